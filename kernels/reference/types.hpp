// Element types of the reference kernels. Floats are computed in double precision, integers exactly
// in 64 bits of their signedness.
#pragma once

#include <Eigen/Core>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/elements.hpp"
#include "ops/number.hpp"
#include "polychron/data_type.hpp"

namespace polychron::kernels::reference {

using ops::with_element;

template <class T>
inline constexpr bool is_float = std::is_same_v<T, float> || std::is_same_v<T, float16>;

/// The type to compute in.
template <class T>
using Wide =
    std::conditional_t<is_float<T>, double,
                       std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>;

inline double widen(float value) { return static_cast<double>(value); }
inline double widen(float16 value) {
  return static_cast<double>(
      Eigen::half_impl::half_to_float(Eigen::half_impl::raw_uint16_to_half(value.bits)));
}
template <std::integral T>
Wide<T> widen(T value) {
  return static_cast<Wide<T>>(value);
}

/// Rounds to the nearest value of T. Integers are truncated towards zero; values out of range
/// become the nearest bound, and NaN becomes 0.
template <class T>
T narrow(double value) {
  if constexpr (std::is_same_v<T, float>) {
    return static_cast<float>(value);
  } else if constexpr (std::is_same_v<T, float16>) {
    return float16::from_bits(Eigen::half_impl::float_to_half_rtne(static_cast<float>(value)).x);
  } else {
    if (std::isnan(value)) return T{};
    if (value <= static_cast<double>(std::numeric_limits<T>::min()))
      return std::numeric_limits<T>::min();
    if (value >= static_cast<double>(std::numeric_limits<T>::max()))
      return std::numeric_limits<T>::max();
    return static_cast<T>(value);
  }
}
/// Integers keep their lowest bits; floats take the nearest value.
template <class T, std::integral V>
T narrow(V value) {
  if constexpr (is_float<T>)
    return narrow<T>(static_cast<double>(value));
  else
    return static_cast<T>(value);
}

/// Calls `f` with float or float16. The operator table allows no other types.
template <class F>
void with_float(DataType type, F&& f) {
  if (type == DataType::float16) return f(float16{});
  f(float{});
}

}  // namespace polychron::kernels::reference
