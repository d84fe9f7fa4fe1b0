// Numbers of the conformance cases: reading them from JSON, turning them into bytes and back, and
// how far two of them are apart.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "ops/number.hpp"
#include "polychron/buffer.hpp"
#include "polychron/descriptor.hpp"

namespace polychron::test {

using nlohmann::json;

__extension__ using WideInteger = __int128;

/// A JSON number, or one of the strings that stand for numbers: "NaN", "-Infinity", "-0", "123n".
inline Number number_of(const json& value) {
  if (value.is_number_unsigned()) return value.get<std::uint64_t>();
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_number()) return value.get<double>();
  const auto text = value.get<std::string>();
  if (!text.ends_with('n')) return std::stod(text);  // also reads NaN, Infinity and -0
  if (text.starts_with('-')) return std::int64_t{std::stoll(text)};
  return std::uint64_t{std::stoull(text)};
}

/// "dataType" and "shape" of an operand.
inline OperandDescriptor descriptor_of(const json& operand) {
  return {data_type_from_string(operand.at("dataType").get<std::string>()).value(),
          operand.at("shape").get<Shape>()};
}

/// Number `index` of an operand's "data"; a single number stands for each.
inline const json& datum(const json& operand, std::size_t index) {
  const auto& data = operand.at("data");
  return data.is_array() ? data.at(data.size() == 1 ? 0 : index) : data;
}

/// The bytes of an operand's "data".
inline Buffer bytes_of(const json& operand) {
  const auto descriptor = descriptor_of(operand);
  const auto size = byte_size(descriptor.data_type);
  auto buffer = Buffer::uninitialized(*byte_length(descriptor));
  std::vector<std::byte> bytes;
  if (is_packed(descriptor.data_type)) {
    std::ranges::fill(buffer.bytes(), std::byte{});
    for (std::size_t i = 0; i < *element_count(descriptor.shape); ++i)
      buffer.bytes()[i / 2] |=
          ops::element_bytes(number_of(datum(operand, i)), descriptor.data_type)[0] << i % 2 * 4;
    return buffer;
  }
  for (std::size_t i = 0; i < buffer.size() / size; ++i) {
    if (i == 0 || operand.at("data").is_array())
      bytes = ops::element_bytes(number_of(datum(operand, i)), descriptor.data_type);
    std::memcpy(buffer.data() + i * size, bytes.data(), size);
  }
  return buffer;
}

/// The place of an element in the order of all values of its type; both zeros have the same. NaN:
/// none.
template <class T>
std::optional<WideInteger> place(std::span<const std::byte> bytes, std::size_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  if constexpr (std::is_integral_v<T>) {
    return value;
  } else {
    using Bits = std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint32_t>;
    constexpr Bits sign = Bits{1} << (sizeof(T) * 8 - 1);
    constexpr Bits infinity = sizeof(T) == 2 ? 0x7c00 : 0x7f80'0000;
    const auto bits = std::bit_cast<Bits>(value);
    const WideInteger magnitude = bits & static_cast<Bits>(~sign);
    if (magnitude > infinity) return std::nullopt;
    return (bits & sign) != 0 ? -magnitude : magnitude;
  }
}

template <class T>
double value_of(std::span<const std::byte> bytes, std::size_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  if constexpr (std::is_same_v<T, float16>)
    return ops::to_double(value);
  else
    return static_cast<double>(value);
}

struct Difference {
  double distance = 0;  ///< the largest, in the metric asked for
  std::string text;     ///< which element, its value, and the one expected
};

template <class T>
Difference compare_elements(std::span<const std::byte> actual, const json& operand, bool ulp) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto expected = bytes_of(operand);
  Difference worst{-1, ""};
  for (std::size_t i = 0; i < actual.size() / sizeof(T); ++i) {
    double distance = 0;
    if (ulp) {
      const auto a = place<T>(actual, i);
      const auto b = place<T>(expected.bytes(), i);
      if (a && b)
        distance = static_cast<double>(*a > *b ? *a - *b : *b - *a);
      else if (a || b)
        distance = infinity;
    } else {
      const double a = value_of<T>(actual, i);
      const double b =
          std::visit([](auto v) { return static_cast<double>(v); }, number_of(datum(operand, i)));
      if (a != b && !(std::isnan(a) && std::isnan(b)))
        distance = std::isnan(a - b) ? infinity : std::abs(a - b);
    }
    if (distance <= worst.distance) continue;
    worst = {distance, "element " + std::to_string(i) + " is " +
                           std::to_string(value_of<T>(actual, i)) + ", expected " +
                           datum(operand, i).dump()};
  }
  return worst;
}

/// The elements of packed bytes as a byte each, with their sign.
inline Buffer unpacked(std::span<const std::byte> packed, const OperandDescriptor& descriptor) {
  Buffer elements(*element_count(descriptor.shape));
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const auto bits = std::to_integer<int>(packed[i / 2] >> i % 2 * 4) & 0x0f;
    const bool negative = descriptor.data_type == DataType::int4 && bits > 7;
    elements.bytes()[i] = static_cast<std::byte>(negative ? bits - 16 : bits);
  }
  return elements;
}

/// How far `actual` is from the operand's "data". Metric "ULP": places in the order of all values
/// of the type, infinite if only one is NaN; "ATOL": absolute difference from the number as
/// written.
inline Difference compare(std::span<const std::byte> actual, const json& operand,
                          const std::string& metric) {
  const bool ulp = metric == "ULP";
  switch (descriptor_of(operand).data_type) {
    case DataType::float32:
      return compare_elements<float>(actual, operand, ulp);
    case DataType::float16:
      return compare_elements<float16>(actual, operand, ulp);
    case DataType::int32:
      return compare_elements<std::int32_t>(actual, operand, ulp);
    case DataType::uint32:
      return compare_elements<std::uint32_t>(actual, operand, ulp);
    case DataType::int64:
      return compare_elements<std::int64_t>(actual, operand, ulp);
    case DataType::uint64:
      return compare_elements<std::uint64_t>(actual, operand, ulp);
    case DataType::int8:
      return compare_elements<std::int8_t>(actual, operand, ulp);
    case DataType::int4:
    case DataType::uint4: {
      json wide = operand;
      const bool is_signed = descriptor_of(operand).data_type == DataType::int4;
      wide["dataType"] = is_signed ? "int8" : "uint8";
      return compare(unpacked(actual, descriptor_of(operand)).bytes(), wide, metric);
    }
    case DataType::uint8:
      break;
  }
  return compare_elements<std::uint8_t>(actual, operand, ulp);
}

}  // namespace polychron::test
