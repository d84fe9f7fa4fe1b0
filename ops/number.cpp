#include "ops/number.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "polychron/attribute_fields.hpp"

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
          return float16(value);
        } else if constexpr (std::is_same_v<T, float>) {
          return static_cast<float>(value);
        } else {
          return to_integer<T>(value);
        }
      },
      number);
}

}  // namespace

Number cast(const Number& number, DataType type) noexcept {
  if (type == DataType::int4)
    return std::int64_t{std::clamp<std::int8_t>(convert<std::int8_t>(number), -8, 7)};
  if (type == DataType::uint4)
    return std::uint64_t{std::min<std::uint8_t>(convert<std::uint8_t>(number), 15)};
  return with_element(type, [&]<class T>(T) -> Number {
    const T value = convert<T>(number);
    if constexpr (std::is_same_v<T, float16>)
      return static_cast<double>(value);
    else if constexpr (std::is_floating_point_v<T>)
      return static_cast<double>(value);
    else if constexpr (std::is_signed_v<T>)
      return std::int64_t{value};
    else
      return std::uint64_t{value};
  });
}

void cast_options(Attributes& attributes, DataType type) noexcept {
  const auto cast_field = [type]<class T>(std::string_view, T& field) {
    if constexpr (std::is_same_v<T, double>) {
      const Number number = cast(field, type);
      if (const auto* real = std::get_if<double>(&number)) field = *real;
    } else if constexpr (std::is_same_v<T, std::optional<Number>>) {
      if (field) field = cast(*field, type);
    }
  };
  std::visit([&](auto& alternative) { for_each_field(alternative, cast_field); }, attributes);
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
