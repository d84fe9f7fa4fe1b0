// Numbers as signed integer keys in the same order, so that comparisons need no special cases. The
// two zeros are equal, and NaN is above everything. Unless `largest`, the smallest number has the
// largest key.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "polychron/float16.hpp"

namespace polychron::kernels::direct {

/// The key of a float with the bits `bits`. NaN has bits above `infinity`, without the sign. The
/// function has no branches: masks are all ones or all zeros.
template <bool largest, class S>
S float_key(S bits, S infinity) {
  constexpr S most = std::numeric_limits<S>::max();
  const auto magnitude = static_cast<S>(bits & most);
  const auto negative = static_cast<S>(bits >> std::numeric_limits<S>::digits);
  const auto opposite = static_cast<S>(largest ? negative : ~negative);
  const auto value = static_cast<S>((magnitude ^ opposite) - opposite);
  const auto nan = static_cast<S>(-static_cast<S>(magnitude > infinity));
  return static_cast<S>((value & ~nan) | (most & nan));
}

template <bool largest>
std::int32_t key(float value) {
  return float_key<largest, std::int32_t>(std::bit_cast<std::int32_t>(value), 0x7f800000);
}
template <bool largest>
std::int16_t key(float16 value) {
  return float_key<largest, std::int16_t>(static_cast<std::int16_t>(value.bits), 0x7c00);
}
template <bool largest, std::integral T>
auto key(T value) {
  using Signed = std::make_signed_t<T>;
  constexpr T lowest =
      std::is_signed_v<T> ? T{0} : static_cast<T>(std::numeric_limits<Signed>::max() + T{1});
  const auto ordered = static_cast<Signed>(value ^ lowest);
  return largest ? ordered : static_cast<Signed>(~ordered);
}

}  // namespace polychron::kernels::direct
