// cast, and functions of one operand that oneDNN has for float32 only or not at all.
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "kernels/direct/direct.hpp"
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
        each<From, To>(arguments, count, [](From value) { return converted<To>(value); });
      };
    });
  });
  return make_kernel([compute, count = elements(problem)](
                         const Arguments& arguments) { compute(arguments, count); },
                     byte_size(from) == byte_size(to) ? 0 : no_input);
}

/// A function of float32, applied to float16 and float32.
template <class F>
KernelResult prepare_floats(const Problem& problem, F f) {
  if (const auto reason = not_plain(problem)) return refuse(*reason);
  const auto count = elements(problem);
  if (problem.inputs[0].descriptor.data_type == DataType::float32)
    return make_kernel(
        [f, count](const Arguments& arguments) { each<float, float>(arguments, count, f); }, 0);
  return make_kernel(
      [f, count](const Arguments& arguments) {
        each<float16, float16>(arguments, count,
                               [f](float16 x) { return float16(f(to_float(x))); });
      },
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

/// erf(x) / x for x in [0, reach], as a sum of Chebyshev polynomials; above, erf(x) is 1 in
/// float32. The coefficients come from interpolation at Chebyshev points (Trefethen, "Approximation
/// Theory and Approximation Practice", 2013, chapter 3). The first omitted coefficient is below
/// 1e-11.
struct ErrorFunction {
  static constexpr std::size_t terms = 24;
  static constexpr double reach = 4;
  std::array<double, terms> factors{};

  ErrorFunction() {
    for (std::size_t point = 0; point < terms; ++point) {
      const double angle = std::numbers::pi * (static_cast<double>(point) + 0.5) / terms;
      const double x = (std::cos(angle) + 1) * (reach / 2);
      for (std::size_t k = 0; k < terms; ++k)
        factors[k] += std::erf(x) / x * std::cos(static_cast<double>(k) * angle) * 2 / terms;
    }
    factors[0] /= 2;
  }

  /// Uses Clenshaw's recurrence.
  float operator()(float x) const {
    const double size = std::abs(double{x});
    const double t = (size < reach ? size : reach) * (2 / reach) - 1;
    double one = 0, two = 0;
    POLYCHRON_UNROLLED_LOOP
    for (std::size_t k = terms - 1; k > 0; --k) {
      const double next = 2 * t * one - two + factors[k];
      two = one;
      one = next;
    }
    const double inside = double{x} * (t * one - two + factors[0]);
    const double outside = x < 0 ? -1 : 1;
    const double result = size < reach ? inside : outside;
    return x != x ? x : static_cast<float>(result);
  }
};

KernelResult prepare_erf(const Problem& problem) {
  static const ErrorFunction error_function;
  return prepare_floats(problem, error_function);
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
