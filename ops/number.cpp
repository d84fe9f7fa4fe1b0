#include "ops/number.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

namespace polychron::ops {

namespace {

/// `value` clamped to T's range, then rounded to the nearest integer, ties to even.
template <class T>
T to_integer(double value) noexcept {
  constexpr auto least = std::numeric_limits<T>::min();
  constexpr auto most = std::numeric_limits<T>::max();
  if (std::isnan(value)) return 0;
  if (value <= static_cast<double>(least)) return least;
  if (value >= static_cast<double>(most)) return most;
  return static_cast<T>(std::nearbyint(value));
}

template <class T, std::integral V>
T to_integer(V value) noexcept {
  if (std::in_range<T>(value)) return static_cast<T>(value);
  return std::cmp_less(value, 0) ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
}

/// `number` as an element of type T.
template <class T>
T convert(const Number& number) noexcept {
  return std::visit(
      [](auto value) -> T {
        if constexpr (std::is_same_v<T, float16>) {
          return to_float16(static_cast<double>(value));
        } else if constexpr (std::is_same_v<T, float>) {
          return static_cast<float>(value);
        } else {
          return to_integer<T>(value);
        }
      },
      number);
}

}  // namespace

float16 to_float16(double value) noexcept {
  const std::uint32_t sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::abs(value);
  const auto make = [&](std::uint32_t bits) {
    return float16::from_bits(static_cast<std::uint16_t>(sign | bits));
  };
  if (std::isnan(value)) return make(0x7e00);
  if (magnitude >= 65520) return make(0x7c00);
  if (magnitude < 0x1p-14)
    return make(static_cast<std::uint32_t>(std::nearbyint(magnitude * 0x1p24)));
  const int exponent = std::ilogb(magnitude);
  const auto significand = std::lround(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));
  // A significand rounded up to 2048 carries into the exponent, as it should.
  return make(static_cast<std::uint32_t>((exponent + 14) * 1024 + significand));
}

double to_double(float16 value) noexcept {
  const int exponent = value.bits >> 10 & 0x1f;
  const int significand = value.bits & 0x3ff;
  double magnitude = 0;
  if (exponent == 0x1f)
    magnitude = significand != 0 ? std::numeric_limits<double>::quiet_NaN()
                                 : std::numeric_limits<double>::infinity();
  else if (exponent == 0)
    magnitude = std::ldexp(significand, -24);
  else
    magnitude = std::ldexp(significand + 1024, exponent - 25);
  return (value.bits & 0x8000) != 0 ? -magnitude : magnitude;
}

Number cast(const Number& number, DataType type) noexcept {
  if (type == DataType::int4)
    return std::int64_t{std::clamp<std::int8_t>(convert<std::int8_t>(number), -8, 7)};
  if (type == DataType::uint4)
    return std::uint64_t{std::min<std::uint8_t>(convert<std::uint8_t>(number), 15)};
  return with_element(type, [&]<class T>(T) -> Number {
    const T value = convert<T>(number);
    if constexpr (std::is_same_v<T, float16>)
      return to_double(value);
    else if constexpr (std::is_floating_point_v<T>)
      return static_cast<double>(value);
    else if constexpr (std::is_signed_v<T>)
      return std::int64_t{value};
    else
      return std::uint64_t{value};
  });
}

std::vector<std::byte> element_bytes(const Number& number, DataType type) {
  if (is_packed(type)) {
    const auto low =
        std::visit([](auto value) { return static_cast<std::uint8_t>(value); }, cast(number, type));
    return {std::byte{low} & std::byte{0x0f}};
  }
  return with_element(type, [&]<class T>(T) {
    const T value = convert<T>(number);
    std::vector<std::byte> bytes(sizeof(T));
    std::memcpy(bytes.data(), &value, sizeof(T));
    return bytes;
  });
}

bool greater(const Number& a, const Number& b) noexcept {
  return std::visit(
      [](auto x, auto y) {
        if constexpr (std::is_integral_v<decltype(x)> && std::is_integral_v<decltype(y)>)
          return std::cmp_greater(x, y);
        else
          return static_cast<long double>(x) > static_cast<long double>(y);
      },
      a, b);
}

}  // namespace polychron::ops
