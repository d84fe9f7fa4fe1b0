// Functions of each element that oneDNN computes less exactly than WebNN asks, or without NaN. They
// work in any layout and keep a block's padding 0.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

#include "kernels/direct/direct.hpp"
#include "kernels/epilogue.hpp"
#include "kernels/function_kernel.hpp"
#include "kernels/vectors.hpp"
#include "ops/table.hpp"

namespace polychron::kernels::direct {
namespace {

using ops::op;

/// 2^n for n from -126 to 127.
float power_of_two(std::uint32_t n) { return std::bit_cast<float>((n + 127) << 23); }

/// e^x as (1 + rest) * low * high. The last two are powers of two, because one float cannot hold
/// every exponent. The rest r of x, |r| <= ln(2) / 2, goes through Taylor's polynomial of the
/// seventh degree; the next power is 6e-9. Comparisons with NaN are false, so NaN stays, in `rest`.
struct Exponent {
  float rest, low, high;
};

Exponent exponent_of(float x) {
  constexpr float rounding = 0x1.8p23F;    // a float of this size is an integer
  constexpr float ln2_high = 0x1.62ep-1F;  // so few bits that n times it is exact
  constexpr auto ln2_low = static_cast<float>(std::numbers::ln2 - double{ln2_high});
  x = x < -104.0F ? -104.0F : x;  // e^x is 0 below this
  x = x > 89.0F ? 89.0F : x;      // e^x is infinity above this
  const float shifted = x * std::numbers::log2e_v<float> + rounding;
  const float n = shifted - rounding;
  const float r = (x - n * ln2_high) - n * ln2_low;
  float power = 1.0F / 5040;
  power = power * r + 1.0F / 720;
  power = power * r + 1.0F / 120;
  power = power * r + 1.0F / 24;
  power = power * r + 1.0F / 6;
  power = power * r + 0.5F;
  power = power * r + 1.0F;
  const std::uint32_t bits =
      std::bit_cast<std::uint32_t>(shifted) - std::bit_cast<std::uint32_t>(rounding);
  const auto half = static_cast<std::uint32_t>(static_cast<std::int32_t>(bits) >> 1);
  return {power * r, power_of_two(half), power_of_two(bits - half)};
}

/// e^x with an error below 2 units in the last place.
float exponential(float x) {
  const Exponent e = exponent_of(x);
  return (1.0F + e.rest) * e.low * e.high;
}

struct Abs {
  explicit Abs(const Attributes&) {}
  float operator()(float x) const { return std::fabs(x); }
};
struct Neg {
  explicit Neg(const Attributes&) {}
  float operator()(float x) const { return -x; }
};
struct Reciprocal {
  explicit Reciprocal(const Attributes&) {}
  float operator()(float x) const { return 1.0F / x; }
};
struct SquareRoot {
  explicit SquareRoot(const Attributes&) {}
  float operator()(float x) const { return std::sqrt(x); }
};
struct Floor {
  explicit Floor(const Attributes&) {}
  float operator()(float x) const { return std::floor(x); }
};
struct RoundEven {
  explicit RoundEven(const Attributes&) {}
  float operator()(float x) const { return std::nearbyint(x); }
};

/// Eigen's (3.4) returns 0 for numbers between -1 and 0. The correct result is -0.
struct Ceil {
  explicit Ceil(const Attributes&) {}
  float operator()(float x) const { return std::ceil(x); }
};

struct Exponential {
  explicit Exponential(const Attributes&) {}
  float operator()(float x) const { return exponential(x); }
};

struct Elu {
  explicit Elu(const Attributes& attributes)
      : alpha(static_cast<float>(std::get<EluAttributes>(attributes).alpha)) {}
  float operator()(float x) const {
    const Exponent e = exponent_of(x < 0.0F ? x : 0.0F);
    const float scale = e.low * e.high;  // exact down to where the sum is -1
    return x < 0.0F ? alpha * (e.rest * scale + (scale - 1.0F)) : x;
  }
  float alpha;
};

float sigmoid(float x) {
  const float small = exponential(-std::fabs(x));  // does not overflow
  return (x < 0.0F ? small : 1.0F) / (1.0F + small);
}

struct Sigmoid {
  explicit Sigmoid(const Attributes&) {}
  float operator()(float x) const { return sigmoid(x); }
};

struct Swish {
  explicit Swish(const Attributes& attributes)
      : alpha(static_cast<float>(std::get<LinearAttributes>(attributes).alpha)) {}
  float operator()(float x) const { return x * sigmoid(alpha * x); }
  float alpha;
};

/// As expm1(2x) / (expm1(2x) + 2), which is exact near 0. From 10 on the result is 1.
struct Tanh {
  explicit Tanh(const Attributes&) {}
  float operator()(float x) const {
    const float size = std::fabs(x);
    const Exponent e = exponent_of(size > 10.0F ? 20.0F : 2.0F * size);
    const float scale = e.low * e.high;
    const float m = e.rest * scale + (scale - 1.0F);
    return std::copysign(m / (m + 2.0F), x);
  }
};

struct Sign {
  explicit Sign(const Attributes&) {}
  float operator()(float x) const {
    const float positive = x > 0.0F ? 1.0F : 0.0F;  // NaN is neither
    return x < 0.0F ? -1.0F : positive;
  }
};

struct Relu {
  explicit Relu(const Attributes&) {}
  float operator()(float x) const { return x < 0.0F ? 0.0F : x; }
};

struct LeakyRelu {
  explicit LeakyRelu(const Attributes& attributes)
      : alpha(static_cast<float>(std::get<LeakyReluAttributes>(attributes).alpha)) {}
  float operator()(float x) const { return x < 0.0F ? alpha * x : x; }
  float alpha;
};

struct Linear {
  explicit Linear(const Attributes& attributes)
      : alpha(static_cast<float>(std::get<LinearAttributes>(attributes).alpha)),
        beta(static_cast<float>(std::get<LinearAttributes>(attributes).beta)) {}
  float operator()(float x) const { return alpha * x + beta; }
  float alpha, beta;
};

/// A bound that is NaN is absent.
struct Clamp {
  explicit Clamp(const Attributes& attributes) {
    const auto& a = std::get<ClampAttributes>(attributes);
    lowest = bound_of(a.min_value, lowest);
    highest = bound_of(a.max_value, highest);
  }
  float operator()(float x) const {
    x = x < lowest ? lowest : x;
    return x > highest ? highest : x;
  }
  float lowest = -std::numeric_limits<float>::infinity();
  float highest = std::numeric_limits<float>::infinity();
};

struct HardSwish {
  explicit HardSwish(const Attributes&) {}
  float operator()(float x) const {
    float height = x + 3.0F;
    height = height < 0.0F ? 0.0F : height;
    height = height > 6.0F ? 6.0F : height;
    return x * (height / 6.0F);  // without overflow
  }
};

/// log(1 + y) for y from 0 to 1, as 2 * atanh(y / (2 + y)). Of atanh's series, whose argument is at
/// most a third, the first term left out is 1e-8 of the sum.
struct Softplus {
  explicit Softplus(const Attributes&) {}
  float operator()(float x) const {
    const float y = exponential(-std::fabs(x));
    const float part = y / (2.0F + y), square = part * part;
    float series = 1.0F / 13;
    series = series * square + 1.0F / 11;
    series = series * square + 1.0F / 9;
    series = series * square + 1.0F / 7;
    series = series * square + 1.0F / 5;
    series = series * square + 1.0F / 3;
    return (x < 0.0F ? 0.0F : x) + (2.0F * part + 2.0F * part * (series * square));
  }
};

/// Clears the channels that pad a picture's last blocks.
void clear_padding(const Slot& slot, float* picture) {
  const Shape& shape = slot.descriptor.shape;
  const std::size_t block = channel_block(slot.layout), rest = shape[1] % block;
  if (rest == 0) return;
  const std::size_t pixels = std::size_t{shape[2]} * shape[3], blocks = shape[1] / block + 1;
  for (std::size_t n = 1; n <= shape[0]; ++n) {
    float* const last = picture + (n * blocks - 1) * pixels * block;
    for (std::size_t i = 0; i < pixels; ++i)
      std::fill(last + i * block + rest, last + (i + 1) * block, 0.0F);
  }
}

template <class F>
KernelResult prepare(const Problem& problem) {
  const Slot& in = problem.inputs[0];
  const Slot& out = problem.outputs[0];
  if (!problem.post_ops.empty()) return refuse("no post-operations");
  if (in.descriptor.data_type != DataType::float32) return refuse("float32 only");
  if (in.layout != out.layout) return refuse("input and result in one layout only");
  const std::size_t count = storage_bytes(in.descriptor, in.layout) / sizeof(float);
  const F function(problem.attributes);
  const bool padding = in.layout != Layout::plain && function(0.0F) != 0.0F;
  return make_kernel(
      [function, count, padding, slot = out](const Arguments& arguments) {
        const auto* from = reinterpret_cast<const float*>(arguments.inputs[0]);
        auto* to = reinterpret_cast<float*>(arguments.outputs[0]);
        with_vectors([&] {
          const F f = function;
          POLYCHRON_INDEPENDENT_STEPS
          for (std::size_t i = 0; i < count; ++i) to[i] = f(from[i]);
        });
        if (padding) clear_padding(slot, to);
      },
      0);
}

/// oneDNN (2.6.3) takes 3.5 ns an element with AVX2, three times as long.
KernelResult prepare_tanh(const Problem& problem) {
  if (has_avx512()) return refuse("oneDNN's is fast with AVX-512");
  return prepare<Tanh>(problem);
}

}  // namespace

std::span<const Entry> function_entries() noexcept {
  static constexpr Entry entries[] = {{op("sign"), prepare<Sign>}, {op("tanh"), prepare_tanh}};
  return entries;
}

std::span<const Entry> activation_entries() noexcept {
  static constexpr Entry entries[] = {{op("abs"), prepare<Abs>},
                                      {op("ceil"), prepare<Ceil>},
                                      {op("clamp"), prepare<Clamp>},
                                      {op("elu"), prepare<Elu>},
                                      {op("exp"), prepare<Exponential>},
                                      {op("floor"), prepare<Floor>},
                                      {op("hardSwish"), prepare<HardSwish>},
                                      {op("leakyRelu"), prepare<LeakyRelu>},
                                      {op("linear"), prepare<Linear>},
                                      {op("neg"), prepare<Neg>},
                                      {op("reciprocal"), prepare<Reciprocal>},
                                      {op("relu"), prepare<Relu>},
                                      {op("roundEven"), prepare<RoundEven>},
                                      {op("sigmoid"), prepare<Sigmoid>},
                                      {op("softplus"), prepare<Softplus>},
                                      {op("sqrt"), prepare<SquareRoot>},
                                      {op_swish, prepare<Swish>}};
  return entries;
}

}  // namespace polychron::kernels::direct
