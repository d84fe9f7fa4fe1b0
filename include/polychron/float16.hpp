// IEEE 754 binary16: the bits of a number, and its conversions.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>

namespace polychron {

/// A binary16 value. Conversions are explicit: `float16(1.5F)`, `static_cast<float>(h)`. It has no
/// arithmetic: kernels compute in float32. The conversions have no branches, so that loops over
/// arrays vectorize.
/// Source: IEEE 754-2019, 3.6 (interchange formats) and 4.3.1 (rounding).
struct float16 {
  std::uint16_t bits = 0;  ///< sign, 5 bits of exponent, 10 of the significand

  /// Zero.
  constexpr float16() = default;
  /// The nearest value, ties to even; out of range, an infinity.
  constexpr explicit float16(float value) noexcept : bits(rounded(value)) {}
  /// The nearest value, rounded once: not first to float.
  constexpr explicit float16(double value) noexcept : bits(rounded(rounded_to_odd(value))) {}
  /// The nearest value; out of range, an infinity.
  constexpr explicit float16(std::integral auto value) noexcept
      : float16(static_cast<double>(value)) {}
  /// The value that has these bits.
  static constexpr float16 from_bits(std::uint16_t bits) noexcept {
    float16 value;
    value.bits = bits;
    return value;
  }
  /// Exact: every binary16 value is a float.
  constexpr explicit operator float() const noexcept {
    const std::uint32_t magnitude = bits & 0x7fffU;
    // The bias of the exponent is 112 less; the multiplication also handles subnormal numbers.
    const float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112F;
    const std::uint32_t special = magnitude >= 0x7c00U ? 0x7f80'0000U : 0U;
    const std::uint32_t sign = (bits & 0x8000U) << 16;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(scaled) | special | sign);
  }

  /// Exact.
  constexpr explicit operator double() const noexcept {
    return static_cast<double>(static_cast<float>(*this));
  }

  /// Compares bits: a NaN equals the same NaN, and 0 differs from -0.
  friend bool operator==(float16, float16) = default;

 private:
  static constexpr std::uint16_t rounded(float value) noexcept {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t magnitude = bits & 0x7fff'ffffU;
    // Normal numbers: changes the bias, and rounds the dropped bits into the kept ones.
    const std::uint32_t normal = (magnitude - 0x3800'0000U + 0xfffU + (magnitude >> 13 & 1U)) >> 13;
    // Subnormal numbers: the addition shifts and rounds them.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
    const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(shifted) - 0x3f00'0000U;
    const std::uint32_t special = magnitude > 0x7f80'0000U ? 0x7e00U : 0x7c00U;
    const std::uint32_t finite = magnitude < 0x3880'0000U ? subnormal : normal;
    const std::uint32_t half = magnitude >= 0x4780'0000U ? special : finite;
    return static_cast<std::uint16_t>(half | (bits >> 16 & 0x8000U));
  }
  /// Rounds to odd: of the two floats next to an inexact value it gives the one with an odd
  /// significand. A second rounding to fewer bits then gives the same result as a single one (Boldo
  /// and Melquiond, 2005).
  static constexpr float rounded_to_odd(double value) noexcept {
    const auto nearest = static_cast<float>(value);
    const auto bits = std::bit_cast<std::uint32_t>(nearest);
    const auto wide = static_cast<double>(nearest);
    if (wide == value || value != value || (bits & 1U) != 0) return nearest;
    const bool below = value < 0 ? wide > value : wide < value;  // nearer to 0
    return std::bit_cast<float>(below ? bits + 1 : bits - 1);
  }
};

}  // namespace polychron
