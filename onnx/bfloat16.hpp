// bfloat16, as an element of literals.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace polychron::onnx::detail {

/// The upper half of a float.
struct Bfloat {
  std::uint16_t bits = 0;

  Bfloat() = default;
  explicit Bfloat(double value) {
    const auto whole = std::bit_cast<std::uint32_t>(static_cast<float>(value));
    const auto rounded = whole + 0x7fffU + ((whole >> 16) & 1U);
    bits = std::isnan(value) ? 0x7fc0 : static_cast<std::uint16_t>(rounded >> 16);
  }
  explicit operator double() const {
    return static_cast<double>(std::bit_cast<float>(std::uint32_t{bits} << 16));
  }
};

}  // namespace polychron::onnx::detail
