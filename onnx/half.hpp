// The two formats of 16 bits that reals come in, as elements of literals.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace polychron::onnx::detail {

/// IEEE 754 binary16. Converts by way of double, rounding to nearest, ties to even.
struct Half {
  std::uint16_t bits = 0;

  Half() = default;
  explicit Half(double value) {
    const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000U : 0U);
    const auto size = std::abs(value);
    if (std::isnan(value)) {
      bits = 0x7e00;
    } else if (size >= 65520) {
      bits = sign | 0x7c00;
    } else if (size < 0x1p-14) {
      bits = static_cast<std::uint16_t>(sign + static_cast<int>(std::nearbyint(size * 0x1p24)));
    } else {
      int exponent = 0;
      const auto fraction = std::frexp(size, &exponent);                     // in [1/2, 1)
      const auto units = static_cast<int>(std::nearbyint(fraction * 2048));  // in [1024, 2048]
      bits = static_cast<std::uint16_t>(sign + ((exponent + 13) << 10) + units);
    }
  }
  explicit operator double() const {
    const int exponent = (bits >> 10) & 31;
    const int units = bits & 1023;
    double size = 0;
    if (exponent == 31) {
      size = units ? std::numeric_limits<double>::quiet_NaN()
                   : std::numeric_limits<double>::infinity();
    } else if (exponent == 0) {
      size = std::ldexp(units, -24);
    } else {
      size = std::ldexp(units + 1024, exponent - 25);
    }
    return bits & 0x8000 ? -size : size;
  }
};

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
