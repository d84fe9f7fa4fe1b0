// binary16 to float32 and back without branches, so that loops over them vectorize. The nearest
// value, ties to even; every NaN becomes a quiet one.
#pragma once

#include <bit>
#include <cstdint>

#include "polychron/data_type.hpp"

namespace polychron::kernels {

inline float to_float(float16 half) noexcept {
  const std::uint32_t magnitude = half.bits & 0x7fffU;
  // The exponent is put right by a product, which also makes subnormal numbers normal.
  const float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112F;
  const std::uint32_t special = magnitude >= 0x7c00U ? 0x7f800000U : 0U;
  const std::uint32_t sign = (half.bits & 0x8000U) << 16;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(scaled) | special | sign);
}

inline float16 to_half(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7fffffffU, sign = bits >> 16 & 0x8000U;
  // Normal numbers: the exponent's bias changes, and the bits that go round the last that stays.
  const std::uint32_t odd = magnitude >> 13 & 1U;
  const std::uint32_t normal = (magnitude - (112U << 23) + 0xfffU + odd) >> 13;
  // Below 2^-14 the sum with 0.5 has the bits at its end, rounded by the addition.
  const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
  const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(shifted) - 0x3f000000U;
  const std::uint32_t infinite = magnitude > 0x7f800000U ? 0x7e00U : 0x7c00U;
  const std::uint32_t finite = magnitude < (113U << 23) ? subnormal : normal;
  const std::uint32_t half = magnitude >= (143U << 23) ? infinite : finite;
  return {static_cast<std::uint16_t>(half | sign)};
}

}  // namespace polychron::kernels
