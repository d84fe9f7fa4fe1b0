// The element types of tensors and operands (WebNN: MLOperandDataType).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "polychron/float16.hpp"

namespace polychron {

/// WebNN's MLOperandDataType, in the specification's order, then int4 and uint4. The specification
/// has dropped these two, but quantized models need them. They hold two elements in a byte, the
/// first in the low bits; zeros fill up the last byte. Strict contexts (ContextOptions::strict)
/// refuse them. https://www.w3.org/TR/webnn/#enumdef-mloperanddatatype
enum class DataType : std::uint8_t {
  float32,  ///< IEEE 754 binary32
  float16,  ///< IEEE 754 binary16: polychron::float16
  int32,    ///< two's complement
  uint32,   ///< without a sign
  int64,    ///< two's complement
  uint64,   ///< without a sign
  int8,     ///< two's complement
  uint8,    ///< without a sign; also the results of comparisons, 0 or 1
  int4,     ///< two's complement, -8 to 7, two in a byte
  uint4     ///< 0 to 15, two in a byte
};

/// Every DataType, in the order of its values.
inline constexpr std::array all_data_types{
    DataType::float32, DataType::float16, DataType::int32, DataType::uint32, DataType::int64,
    DataType::uint64,  DataType::int8,    DataType::uint8, DataType::int4,   DataType::uint4};

/// True for the types that hold two elements in a byte.
constexpr bool is_packed(DataType type) noexcept {
  return type == DataType::int4 || type == DataType::uint4;
}

/// Size in bytes of one element that stands alone. For whole tensors use byte_length(), which
/// counts packed elements right.
constexpr std::size_t byte_size(DataType type) noexcept {
  constexpr std::array<std::uint8_t, 10> sizes{4, 2, 4, 4, 8, 8, 1, 1, 1, 1};
  return sizes[static_cast<std::size_t>(type)];
}

/// The specification's spelling, for instance "float32".
constexpr std::string_view to_string(DataType type) noexcept {
  constexpr std::array<std::string_view, 10> names{
      "float32", "float16", "int32", "uint32", "int64", "uint64", "int8", "uint8", "int4", "uint4"};
  return names[static_cast<std::size_t>(type)];
}

/// The type that the specification spells `name`, or nullopt.
constexpr std::optional<DataType> data_type_from_string(std::string_view name) noexcept {
  for (const auto type : all_data_types)
    if (to_string(type) == name) return type;
  return std::nullopt;
}

/// Maps a C++ element type to its DataType, as `value`: float, polychron::float16, and the integers
/// of 32, 64 and 8 bits. Undefined for every other type. Packed types have no C++ type: use
/// std::uint8_t for their bytes.
template <class T>
struct data_type_of;
template <>
struct data_type_of<float> {
  static constexpr auto value = DataType::float32;
};
template <>
struct data_type_of<float16> {
  static constexpr auto value = DataType::float16;
};
template <>
struct data_type_of<std::int32_t> {
  static constexpr auto value = DataType::int32;
};
template <>
struct data_type_of<std::uint32_t> {
  static constexpr auto value = DataType::uint32;
};
template <>
struct data_type_of<std::int64_t> {
  static constexpr auto value = DataType::int64;
};
template <>
struct data_type_of<std::uint64_t> {
  static constexpr auto value = DataType::uint64;
};
template <>
struct data_type_of<std::int8_t> {
  static constexpr auto value = DataType::int8;
};
template <>
struct data_type_of<std::uint8_t> {
  static constexpr auto value = DataType::uint8;
};

/// A C++ type that can be a tensor's element.
template <class T>
concept Element = requires {
  data_type_of<T>::value;
};

/// The DataType of elements of type T.
template <Element T>
inline constexpr DataType data_type_v = data_type_of<T>::value;

/// A contiguous range of elements, such as an array, a vector or a span.
template <class R>
concept Elements = requires(const R& values) {
  std::span(values);
  requires Element<std::remove_cv_t<typename decltype(std::span(values))::element_type>>;
};

/// The element type of a range of elements.
template <Elements R>
using element_t =
    std::remove_cv_t<typename decltype(std::span(std::declval<const R&>()))::element_type>;

}  // namespace polychron
