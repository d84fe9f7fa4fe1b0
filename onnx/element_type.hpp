// The element types of ONNX, and their support in WebNN and in the importer's own arithmetic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "onnx/bfloat16.hpp"
#include "polychron/descriptor.hpp"

namespace polychron::onnx::detail {

using polychron::to_string;

/// The values are those of TensorProto.DataType. A file may contain other numbers: such a type has
/// no size, and is refused on use.
enum class ElementType : std::int32_t {
  undefined = 0,
  float32 = 1,
  uint8 = 2,
  int8 = 3,
  uint16 = 4,
  int16 = 5,
  int32 = 6,
  int64 = 7,
  string = 8,
  boolean = 9,
  float16 = 10,
  float64 = 11,
  uint32 = 12,
  uint64 = 13,
  bfloat16 = 16,
  uint4 = 21,
  int4 = 22,
};

/// ONNX's spelling in lower case: "float", "int64", "bool"; "type 99" is "unknown".
std::string_view to_string(ElementType type) noexcept;

/// Bytes of an element on the host; 0 for types that are not kept there (strings, complex numbers,
/// and floats of 8 bits or less). Integers of 4 bits take one byte each.
std::size_t element_size(ElementType type) noexcept;

/// The operand's type. Exact: bool becomes uint8, 16-bit integers int32, 4-bit integers 8-bit ones,
/// bfloat16 float32. Not exact: double becomes float32.
std::optional<DataType> operand_type(ElementType type) noexcept;
/// The ONNX type of an operand's type.
ElementType element_type(DataType type) noexcept;
/// The type with that name, or undefined.
ElementType element_type(std::string_view name) noexcept;

/// Calls f(T{}) with the C++ type of `type`. Returns false for types with which the importer does
/// not calculate (uint64, and types without a size). bool has the type of its storage,
/// std::uint8_t.
template <class F>
bool visit_type(ElementType type, F&& f) {
  switch (type) {
    case ElementType::float32:
      return f(float{}), true;
    case ElementType::float64:
      return f(double{}), true;
    case ElementType::uint8:
    case ElementType::boolean:
    case ElementType::uint4:
      return f(std::uint8_t{}), true;
    case ElementType::int8:
    case ElementType::int4:
      return f(std::int8_t{}), true;
    case ElementType::uint16:
      return f(std::uint16_t{}), true;
    case ElementType::int16:
      return f(std::int16_t{}), true;
    case ElementType::int32:
      return f(std::int32_t{}), true;
    case ElementType::uint32:
      return f(std::uint32_t{}), true;
    case ElementType::int64:
      return f(std::int64_t{}), true;
    case ElementType::float16:
      return f(float16{}), true;
    case ElementType::bfloat16:
      return f(Bfloat{}), true;
    default:
      return false;
  }
}

inline bool is_packed(ElementType type) noexcept {
  return type == ElementType::uint4 || type == ElementType::int4;
}

inline bool is_real(ElementType type) noexcept {
  return type == ElementType::float32 || type == ElementType::float64 ||
         type == ElementType::float16 || type == ElementType::bfloat16;
}

}  // namespace polychron::onnx::detail
