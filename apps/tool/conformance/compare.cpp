#include "apps/tool/conformance/compare.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <sstream>
#include <type_traits>

#include "apps/tool/conformance/values.hpp"
#include "ops/number.hpp"

namespace polychron::conformance {

namespace {

__extension__ using WideInteger = __int128;
constexpr double infinity = std::numeric_limits<double>::infinity();

template <class T>
T element(std::span<const std::byte> bytes, std::size_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

template <class T>
double real(T value) {
  return static_cast<double>(value);
}

/// The rank of a value among all values of its type; both zeros have the same. NaN has none.
template <class T>
std::optional<WideInteger> place(T value) {
  if constexpr (std::is_integral_v<T>) {
    return value;
  } else {
    using Bits = std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint32_t>;
    constexpr Bits sign = Bits{1} << (sizeof(T) * 8 - 1);
    constexpr Bits highest = sizeof(T) == 2 ? 0x7c00 : 0x7f80'0000;  // infinity's
    const auto bits = std::bit_cast<Bits>(value);
    const WideInteger magnitude = bits & static_cast<Bits>(~sign);
    if (magnitude > highest) return std::nullopt;
    return (bits & sign) != 0 ? -magnitude : magnitude;
  }
}

template <class T>
double places_apart(T actual, T expected) {
  const auto a = place(actual);
  const auto b = place(expected);
  if (!a || !b) return a || b ? infinity : 0;
  return static_cast<double>(*a > *b ? *a - *b : *b - *a);
}

double apart(double actual, double expected) {
  if (actual == expected || (std::isnan(actual) && std::isnan(expected))) return 0;
  return std::isnan(actual - expected) ? infinity : std::abs(actual - expected);
}

template <class T>
bool are_opposite_zeros(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return false;
  else
    return real(a) == 0 && real(b) == 0 && std::signbit(real(a)) != std::signbit(real(b));
}

template <class T>
std::string text_of_element(T value) {
  std::ostringstream text;
  text.precision(std::is_same_v<T, float16> ? 5 : 9);
  if constexpr (std::is_integral_v<T>)
    text << std::to_string(value);
  else
    text << real(value);
  return text.str();
}

/// The elements of packed bytes as a byte each, with their sign.
Buffer unpacked(std::span<const std::byte> packed, const OperandDescriptor& descriptor) {
  Buffer elements(*element_count(descriptor.shape));
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const auto bits = std::to_integer<int>(packed[i / 2] >> i % 2 * 4) & 0x0f;
    const bool negative = descriptor.data_type == DataType::int4 && bits > 7;
    elements.bytes()[i] = static_cast<std::byte>(negative ? bits - 16 : bits);
  }
  return elements;
}

/// The worst of `count` elements. `distance` gives that of one.
template <class Distance>
Difference worst_of(std::size_t count, Distance distance) {
  Difference worst{-1, 0, {}, {}};
  for (std::size_t i = 0; i < count; ++i)
    if (const double d = distance(i); d > worst.distance) {
      worst.distance = d;
      worst.element = i;
    }
  return worst;
}

}  // namespace

std::string Difference::text() const {
  return "element " + std::to_string(element) + " is " + actual + ", expected " + expected;
}

Difference compare(std::span<const std::byte> actual, const nlohmann::json& operand,
                   const std::string& metric, Zeros zeros) {
  if (metric != "ULP" && metric != "ATOL")
    throw Malformed("expected metric ULP or ATOL, found " + excerpt(metric));
  const auto descriptor = descriptor_of(operand);
  if (is_packed(descriptor.data_type)) {
    auto wide = operand;
    wide["dataType"] = descriptor.data_type == DataType::int4 ? "int8" : "uint8";
    const auto elements = unpacked(actual, descriptor);
    return compare(elements.bytes(), wide, metric, zeros);
  }
  const auto expected = bytes_of(operand);
  return ops::with_element(descriptor.data_type, [&]<class T>(T) {
    auto worst = worst_of(actual.size() / sizeof(T), [&](std::size_t i) {
      const auto value = element<T>(actual, i);
      if (zeros == Zeros::signed_ && are_opposite_zeros(value, element<T>(expected.bytes(), i)))
        return infinity;
      if (metric == "ULP") return places_apart(value, element<T>(expected.bytes(), i));
      return apart(real(value), real_of(datum(operand, i)));
    });
    if (actual.empty()) return worst;
    worst.actual = text_of_element(element<T>(actual, worst.element));
    worst.expected = datum(operand, worst.element).dump();
    return worst;
  });
}

Difference compare_close(std::span<const std::byte> actual, std::span<const std::byte> expected,
                         DataType type, double relative, double absolute) {
  return ops::with_element(type, [&]<class T>(T) {
    auto worst = worst_of(actual.size() / sizeof(T), [&](std::size_t i) {
      const auto a = element<T>(actual, i);
      const auto b = element<T>(expected, i);
      if constexpr (std::is_integral_v<T>) {
        return a == b ? 0.0 : infinity;
      } else {
        const auto distance = apart(real(a), real(b));
        if (distance == 0 || distance == infinity) return distance;
        return distance / (absolute + relative * std::abs(real(b)));
      }
    });
    if (actual.empty()) return worst;
    worst.actual = text_of_element(element<T>(actual, worst.element));
    worst.expected = text_of_element(element<T>(expected, worst.element));
    return worst;
  });
}

double largest_of(std::span<const std::byte> data, DataType type) {
  double largest = 0;
  ops::with_element(type, [&]<class T>(T) {
    if constexpr (!std::is_integral_v<T>)
      for (std::size_t i = 0; i < data.size() / sizeof(T); ++i)
        if (const auto size = std::abs(real(element<T>(data, i))); size < infinity)
          largest = std::max(largest, size);
  });
  return largest;
}

}  // namespace polychron::conformance
