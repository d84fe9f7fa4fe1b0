// cast, and functions of one operand that oneDNN has for float32 only or not at all.
#include <array>
#include <cmath>
#include <limits>

#include "kernels/direct/direct.hpp"
#include "kernels/direct/half_rows.hpp"
#include "kernels/function_kernel.hpp"
#include "kernels/half.hpp"
#include "kernels/vectors.hpp"
#include "ops/number.hpp"
#include "ops/table.hpp"

namespace polychron::kernels::direct {
namespace {

using ops::op;

/// Truncates floats towards zero. A float out of range becomes the nearest bound, NaN becomes 0.
/// Integers keep their lowest bits.
template <class To, class From>
To converted(From value) {
  if constexpr (std::is_same_v<From, float16>) {
    return converted<To>(to_float(value));
  } else if constexpr (std::is_same_v<To, float16>) {
    return float16(static_cast<float>(value));
  } else if constexpr (std::is_integral_v<To> && std::is_same_v<From, float>) {
    // Float32 holds the bounds of 8 bits exactly, double those of 32 bits. The upper bounds of 64
    // bits round up by one.
    using Wide = std::conditional_t<sizeof(To) == 1, float, double>;
    constexpr auto least = static_cast<Wide>(std::numeric_limits<To>::min());
    constexpr auto most = static_cast<Wide>(std::numeric_limits<To>::max());
    const Wide wide{value};
    if (wide != wide) return 0;
    if (wide <= least) return std::numeric_limits<To>::min();
    return wide >= most ? std::numeric_limits<To>::max() : static_cast<To>(wide);
  } else {
    return static_cast<To>(value);
  }
}

/// y[i] = f(x[i]).
template <class From, class To, class F>
void each(const Arguments& arguments, std::int64_t count, const F& f) {
  const auto* x = reinterpret_cast<const From*>(arguments.inputs[0]);
  auto* y = reinterpret_cast<To*>(arguments.outputs[0]);
  with_vectors([&] {
    const From* const in = x;  // copies, which stores through byte pointers cannot change
    To* const out = y;
    const std::int64_t end = count;
    POLYCHRON_INDEPENDENT_STEPS
    for (std::int64_t i = 0; i < end; ++i) out[i] = f(in[i]);
  });
}

std::int64_t elements(const Problem& problem) {
  return static_cast<std::int64_t>(*element_count(problem.outputs[0].descriptor.shape));
}

KernelResult prepare_cast(const Problem& problem) {
  if (const auto reason = not_plain(problem)) return refuse(*reason);
  const DataType from = problem.inputs[0].descriptor.data_type;
  const DataType to = problem.outputs[0].descriptor.data_type;
  if (is_packed(from) || is_packed(to)) return refuse("no packed types");
  void (*compute)(const Arguments&, std::int64_t) = nullptr;
  ops::with_element(from, [&]<class From>(From) {
    ops::with_element(to, [&]<class To>(To) {
      compute = [](const Arguments& arguments, std::int64_t count) {
        const auto* in = reinterpret_cast<const From*>(arguments.inputs[0]);
        auto* out = reinterpret_cast<To*>(arguments.outputs[0]);
        const auto size = static_cast<std::size_t>(count);
        if constexpr (std::is_same_v<From, float16> && std::is_same_v<To, float>)
          widen_halves(in, out, size);
        else if constexpr (std::is_same_v<From, float> && std::is_same_v<To, float16>)
          narrow_floats(in, out, size);
        else
          each<From, To>(arguments, count, [](From value) { return converted<To>(value); });
      };
    });
  });
  return make_kernel([compute, count = elements(problem)](
                         const Arguments& arguments) { compute(arguments, count); },
                     byte_size(from) == byte_size(to) ? 0 : no_input);
}

/// A function of float32. (Passes compute it in float32 between casts of float16.)
template <class F>
KernelResult prepare_floats(const Problem& problem, F f) {
  if (const auto reason = not_plain(problem)) return refuse(*reason);
  if (problem.inputs[0].descriptor.data_type != DataType::float32) return refuse("float32 only");
  return make_kernel([f, count = elements(problem)](
                         const Arguments& arguments) { each<float, float>(arguments, count, f); },
                     0);
}

KernelResult prepare_hard_sigmoid(const Problem& problem) {
  const auto& a = std::get<HardSigmoidAttributes>(problem.attributes);
  // In double the product is exact. In float32 its rounding error would be large beside a sum near
  // 0, unless the compiler fuses the two operations.
  return prepare_floats(problem, [alpha = double{static_cast<float>(a.alpha)},
                                  beta = double{static_cast<float>(a.beta)}](float x) {
    const auto y = static_cast<float>(alpha * x + beta);
    const float above = y < 0 ? 0 : y;  // NaN stays
    return above > 1 ? 1 : above;
  });
}

/// x times a quotient of polynomials in x^2 for |x| up to 4, where erf(x) becomes 1 in float32: the
/// coefficients of Eigen (3.4). The error is at most 3.7e-7, and 7 units in the last place.
struct ErrorFunction {
  float operator()(float x) const {
    constexpr float above[] = {2.77068142495902e-08F,  -2.10102402082508e-06F,
                               -5.69250639462346e-05F, -7.34990630326855e-04F,
                               -2.95459980854025e-03F, -1.60960333262415e-02F};
    constexpr float below[] = {-2.13374055278905e-04F, -1.68282697438203e-03F,
                               -7.37332916720468e-03F, -1.42647390514189e-02F};
    const float low = x < -4.0F ? -4.0F : x;  // keeps NaN
    const float bounded = low > 4.0F ? 4.0F : low;
    const float square = bounded * bounded;
    float numerator = -2.72614225801306e-10F, denominator = -1.45660718464996e-05F;
    POLYCHRON_UNROLLED_LOOP
    for (const float factor : above) numerator = numerator * square + factor;
    POLYCHRON_UNROLLED_LOOP
    for (const float factor : below) denominator = denominator * square + factor;
    const float result = bounded * numerator / denominator;  // 1 + 1.2e-7 at 4
    const float above_least = result < -1.0F ? -1.0F : result;
    return above_least > 1.0F ? 1.0F : above_least;
  }
};

KernelResult prepare_erf(const Problem& problem) {
  return prepare_floats(problem, ErrorFunction());
}

KernelResult prepare_not(const Problem& problem) {
  if (const auto reason = not_plain(problem)) return refuse(*reason);
  return make_kernel(
      [count = elements(problem)](const Arguments& arguments) {
        each<std::uint8_t, std::uint8_t>(arguments, count, [](std::uint8_t x) {
          return static_cast<std::uint8_t>(x == 0 ? 1 : 0);
        });
      },
      0);
}

}  // namespace

std::span<const Entry> cast_entries() noexcept {
  static constexpr Entry entries[] = {{op("cast"), prepare_cast},
                                      {op("erf"), prepare_erf},
                                      {op("hardSigmoid"), prepare_hard_sigmoid},
                                      {op("logicalNot"), prepare_not}};
  return entries;
}

}  // namespace polychron::kernels::direct
