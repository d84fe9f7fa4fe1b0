// quantizeLinear and dequantizeLinear in loops that vectorize. They first merge neighbouring axes
// that blocks cover in the same way, to make the innermost loop as long as possible. It runs over
// the elements of a block, or over elements that each have a scale of their own.
#include <algorithm>
#include <array>
#include <tuple>

#include "kernels/direct/direct.hpp"
#include "kernels/direct/folds.hpp"
#include "kernels/direct/reduce.hpp"
#include "kernels/function_kernel.hpp"
#include "kernels/half.hpp"
#include "kernels/packed_int4.hpp"
#include "kernels/vectors.hpp"
#include "ops/table.hpp"

namespace polychron::kernels::direct {
namespace {

/// An axis of the input: `blocks` blocks of `length` elements.
struct Axis {
  std::size_t blocks = 1, length = 1;
};

struct Axes {
  std::array<Axis, max_rank> list{};
  std::size_t count = 0;

  Axes(const Shape& shape, const Shape& scale) {
    list[count++] = {};
    for (std::size_t i = 0; i < shape.size(); ++i) {
      Axis& last = list[count - 1];
      const Axis next{scale[i], shape[i] / scale[i]};
      if (last.length == 1)
        last = {last.blocks * next.blocks, next.length};
      else if (next.blocks == 1)
        last.length *= next.length;
      else
        list[count++] = next;
    }
  }
};

/// Calls f(element, block, axis) for each run along the innermost axis, with its first element and
/// the first of its blocks.
template <class F>
void each_run(const Axes& axes, const F& f) {
  std::size_t element = 0;
  const auto walk = [&](const auto& self, std::size_t depth, std::size_t block) -> void {
    const Axis& axis = axes.list[depth];
    block *= axis.blocks;
    if (depth + 1 == axes.count) {
      f(element, block, axis);
      element += axis.blocks * axis.length;
      return;
    }
    for (std::size_t b = 0; b < axis.blocks; ++b)
      for (std::size_t i = 0; i < axis.length; ++i) self(self, depth + 1, block + b);
  };
  walk(walk, 0, 0);
}

/// The type that is exact for the integers: float32 for differences of 8 bits, double for 32 bits.
template <class Q>
using Exact = std::conditional_t<sizeof(typename IntegerTraits<Q>::Value) == 1, float, double>;

/// Converts numbers to integers. Numbers beyond `reach` saturate, whatever the zero point.
template <class Q>
struct Quantizer {
  using Value = typename IntegerTraits<Q>::Value;
  using Wide = Exact<Q>;
  static constexpr Wide least = IntegerTraits<Q>::least, most = IntegerTraits<Q>::most;
  /// Adding and subtracting this number rounds to nearest even: it leaves no bits for a fraction.
  static constexpr Wide rounder = sizeof(Value) == 1 ? Wide{0x1.8p23} : Wide{0x1.8p52};
  static constexpr Wide reach = sizeof(Value) == 1 ? Wide{0x1p20} : Wide{0x1p40};

  static Value apply(Wide value, Wide scale, Wide zero_point) {
    const Wide steps = value / scale;
    const Wide low = steps > -reach ? steps : -reach;
    const Wide bounded = low < reach ? low : reach;
    const Wide shifted = ((bounded + rounder) - rounder) + zero_point;
    const Wide above = shifted > least ? shifted : least;
    const Wide result = above < most ? above : most;
    // A type that vectors can be converted to. Unsigned 32-bit values need a wider one.
    using Integer =
        std::conditional_t<std::is_same_v<Value, std::uint32_t>, std::int64_t, std::int32_t>;
    return static_cast<Value>(static_cast<Integer>(steps == steps ? result : Wide{0}));
  }
};

/// The elements that loops take at a time. Packed ones are unpacked into a buffer of this size.
constexpr std::size_t chunk = 512;

/// Reads integers, a stretch at a time.
template <class Q>
class Source {
 public:
  using Value = typename IntegerTraits<Q>::Value;
  explicit Source(const std::byte* bytes) : bytes_(bytes) {}
  const Value* get(std::size_t first, std::size_t count) {
    if constexpr (!IntegerTraits<Q>::packed) return reinterpret_cast<const Value*>(bytes_) + first;
    unpack(reinterpret_cast<const std::uint8_t*>(bytes_), first, count, buffer_.data());
    return buffer_.data();
  }

 private:
  const std::byte* bytes_;
  std::array<Value, IntegerTraits<Q>::packed ? chunk : 1> buffer_;
};

/// Writes integers from first to last: space() returns room for a stretch, done() stores it.
template <class Q>
class Sink {
 public:
  using Value = typename IntegerTraits<Q>::Value;
  explicit Sink(std::byte* bytes) : bytes_(bytes) {}
  Value* space(std::size_t first) {
    if constexpr (IntegerTraits<Q>::packed) return buffer_.data();
    return reinterpret_cast<Value*>(bytes_) + first;
  }
  void done(std::size_t first, std::size_t count) {
    if constexpr (IntegerTraits<Q>::packed)
      pack(buffer_.data(), first, count, reinterpret_cast<std::uint8_t*>(bytes_));
  }

 private:
  std::byte* bytes_;
  std::array<Value, IntegerTraits<Q>::packed ? chunk : 1> buffer_;
};

/// Calls f(i, count) for stretches [i, i + count) of [0, size).
template <class F>
void each_chunk(std::size_t size, const F& f) {
  for (std::size_t i = 0; i < size; i += chunk) f(i, std::min(chunk, size - i));
}

/// Elements that share a scale and a zero point.
template <class Q, class T>
void quantize_run(const T* from, typename Quantizer<Q>::Value* to, std::size_t count,
                  Exact<Q> scale, Exact<Q> zero_point) {
  with_vectors([=] {
    // Copies, which stores through byte pointers cannot change.
    const auto [x, y, end, s, z] = std::tuple(from, to, count, scale, zero_point);
    POLYCHRON_INDEPENDENT_STEPS
    for (std::size_t i = 0; i < end; ++i)
      y[i] = Quantizer<Q>::apply(Exact<Q>{to_float(x[i])}, s, z);
  });
}
/// Elements that each have a scale and a zero point.
template <class Q, class T>
void quantize_each(const T* from, typename Quantizer<Q>::Value* to, std::size_t count,
                   const T* scales, const typename Quantizer<Q>::Value* zero_points) {
  with_vectors([=] {
    const auto [x, y, end, s, z] = std::tuple(from, to, count, scales, zero_points);
    POLYCHRON_INDEPENDENT_STEPS
    for (std::size_t i = 0; i < end; ++i)
      y[i] = Quantizer<Q>::apply(Exact<Q>{to_float(x[i])}, Exact<Q>{to_float(s[i])},
                                 static_cast<Exact<Q>>(z[i]));
  });
}

template <class T, class Q>
void quantize(const Axes& axes, const Arguments& arguments) {
  using Wide = Exact<Q>;
  const auto* in = reinterpret_cast<const T*>(arguments.inputs[0]);
  const auto* scales = reinterpret_cast<const T*>(arguments.inputs[1]);
  Source<Q> zero_points(arguments.inputs[2]);
  Sink<Q> out(arguments.outputs[0]);
  each_run(axes, [&](std::size_t first, std::size_t block, const Axis& axis) {
    if (axis.length == 1)
      return each_chunk(axis.blocks, [&](std::size_t from, std::size_t count) {
        const T* x = in + first + from;
        const T* scale = scales + block + from;
        const auto* z = zero_points.get(block + from, count);
        auto* y = out.space(first + from);
        quantize_each<Q>(x, y, count, scale, z);
        out.done(first + from, count);
      });
    for (std::size_t b = 0; b < axis.blocks; ++b, first += axis.length) {
      const Wide s{to_float(scales[block + b])};
      const auto z = static_cast<Wide>(*zero_points.get(block + b, 1));
      each_chunk(axis.length, [&](std::size_t from, std::size_t count) {
        const T* x = in + first + from;
        auto* y = out.space(first + from);
        quantize_run<Q>(x, y, count, s, z);
        out.done(first + from, count);
      });
    }
  });
}

template <class T, class Q>
void dequantize(const Axes& axes, const Arguments& arguments) {
  using Wide = Exact<Q>;
  Source<Q> in(arguments.inputs[0]), zero_points(arguments.inputs[2]);
  const auto* scales = reinterpret_cast<const T*>(arguments.inputs[1]);
  auto* out = reinterpret_cast<T*>(arguments.outputs[0]);
  const auto apply = [](auto x, Wide scale, Wide zero_point) {
    return from_float<T>(static_cast<float>((static_cast<Wide>(x) - zero_point) * scale));
  };
  each_run(axes, [&](std::size_t first, std::size_t block, const Axis& axis) {
    if (axis.length == 1)
      return each_chunk(axis.blocks, [&](std::size_t from, std::size_t count) {
        const auto* x = in.get(first + from, count);
        const T* scale = scales + block + from;
        const auto* z = zero_points.get(block + from, count);
        T* y = out + first + from;
        for (std::size_t i = 0; i < count; ++i)
          y[i] = apply(x[i], Wide{to_float(scale[i])}, static_cast<Wide>(z[i]));
      });
    for (std::size_t b = 0; b < axis.blocks; ++b, first += axis.length) {
      const Wide s{to_float(scales[block + b])};
      const auto z = static_cast<Wide>(*zero_points.get(block + b, 1));
      each_chunk(axis.length, [&](std::size_t from, std::size_t count) {
        const auto* x = in.get(first + from, count);
        T* y = out + first + from;
        for (std::size_t i = 0; i < count; ++i) y[i] = apply(x[i], s, z);
      });
    }
  });
}

KernelResult prepare(const Problem& problem) {
  if (!problem.post_ops.empty()) return refuse("no post-operations");
  for (const Slot& slot : problem.inputs)
    if (slot.layout != Layout::plain) return refuse("plain layout only");
  if (problem.outputs[0].layout != Layout::plain) return refuse("plain layout only");
  const Axes axes(problem.inputs[0].descriptor.shape, problem.inputs[1].descriptor.shape);
  const bool quantizes = problem.op == ops::op("quantizeLinear");
  const bool half = problem.inputs[1].descriptor.data_type == DataType::float16;
  return with_integer(
      problem.inputs[2].descriptor.data_type,
      [&]<class Q>(Q) {
        const auto run = quantizes ? (half ? quantize<float16, Q> : quantize<float, Q>)
                                   : (half ? dequantize<float16, Q> : dequantize<float, Q>);
        return make_kernel([axes, run](const Arguments& arguments) { run(axes, arguments); });
      },
      [] { return refuse("integers of 4, 8 and 32 bits only"); });
}

/// The scale spreads the extremes and 0 over the bytes. Infinities give what the steps one by one
/// give. NaN gives a scale of NaN and bytes of 0, where oneDNN's max and min might drop it.
KernelResult prepare_dynamic(const Problem& problem) {
  if (const auto reason = not_plain(problem)) return refuse(*reason);
  const std::size_t count = *element_count(problem.inputs[0].descriptor.shape);
  // A piece stays in a core's first-level cache while both extremes are found.
  const std::size_t piece = std::min<std::size_t>(count, 4096), last = (count - 1) % piece + 1;
  const Reduction pieces({static_cast<std::uint32_t>(piece)}, std::nullopt);
  const Reduction rest({static_cast<std::uint32_t>(last)}, std::nullopt);
  return make_kernel([=](const Arguments& arguments) {
    using High = Extreme<float, true>;
    using Low = Extreme<float, false>;
    const auto* const in = reinterpret_cast<const float*>(arguments.inputs[0]);
    float high = High::first(), low = Low::first();
    with_vectors([&] {
      for (std::size_t i = 0; i < count; i += piece) {
        const Reduction& part = count - i < piece ? rest : pieces;
        float highest = 0, lowest = 0;
        part.run<High>(in + i, &highest);
        part.run<Low>(in + i, &lowest);
        high = High::merge(high, highest), low = Low::merge(low, lowest);
      }
    });
    high = high < 0.0F ? 0.0F : high;
    low = low > 0.0F ? 0.0F : low;
    const float range = high - low;
    const float scale = range == 0.0F ? 1.0F : range / 255.0F;
    const float zero = Quantizer<std::uint8_t>::apply(-low, scale, 0);
    *reinterpret_cast<float*>(arguments.outputs[1]) = scale;
    arguments.outputs[2][0] = static_cast<std::byte>(zero);
    quantize_run<std::uint8_t>(in, reinterpret_cast<std::uint8_t*>(arguments.outputs[0]), count,
                               scale, zero);
  });
}

}  // namespace

std::span<const Entry> quantization_entries() noexcept {
  static constexpr Entry entries[] = {{op_dynamic_quantization, prepare_dynamic},
                                      {ops::op("dequantizeLinear"), prepare},
                                      {ops::op("quantizeLinear"), prepare}};
  return entries;
}

}  // namespace polychron::kernels::direct
