// Conversions between float16 and float32 without branches, which loops over arrays vectorize.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "polychron/data_type.hpp"

namespace polychron::kernels {

inline float to_float(float16 value) noexcept {
  const std::uint32_t magnitude = value.bits & 0x7fffU;
  // The exponent's bias is 112 less; multiplying makes subnormal numbers right too.
  const float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112F;
  const std::uint32_t special = magnitude >= 0x7c00U ? 0x7f80'0000U : 0U;
  const std::uint32_t sign = (value.bits & 0x8000U) << 16;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(scaled) | special | sign);
}

/// The nearest value, ties to even; beyond the range an infinity.
inline float16 to_half(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7fff'ffffU;
  // Normal numbers: the bias changes, and what is cut off rounds into what stays.
  const std::uint32_t normal = (magnitude - 0x3800'0000U + 0xfffU + (magnitude >> 13 & 1U)) >> 13;
  // Subnormal ones: an addition shifts and rounds them.
  const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
  const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(shifted) - 0x3f00'0000U;
  const std::uint32_t special = magnitude > 0x7f80'0000U ? 0x7e00U : 0x7c00U;
  const std::uint32_t finite = magnitude < 0x3880'0000U ? subnormal : normal;
  const std::uint32_t half = magnitude >= 0x4780'0000U ? special : finite;
  return {static_cast<std::uint16_t>(half | (bits >> 16 & 0x8000U))};
}

inline float to_float(float value) noexcept { return value; }

template <class T>
T from_float(float value) noexcept {
  if constexpr (std::is_same_v<T, float16>)
    return to_half(value);
  else
    return value;
}

}  // namespace polychron::kernels
