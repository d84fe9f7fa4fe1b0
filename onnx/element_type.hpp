// The element types of ONNX, and which of them WebNN and the importer's own arithmetic know.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "onnx/bfloat16.hpp"
#include "polychron/descriptor.hpp"

namespace polychron::onnx::detail {

using polychron::to_string;

/// The values are those of TensorProto.DataType. Any other number may occur in a file: such a type
/// has no size and is refused when it is used.
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

/// Bytes of an element; 0 for types that are not held on the host (strings, complex numbers, and
/// floats of 8 bits or less). Integers of 4 bits have a byte each there.
std::size_t element_size(ElementType type) noexcept;

/// The operand's type: bool is uint8, 16-bit integers are int32, those of 4 bits have 8, bfloat16
/// is float32, which hold them exactly; double is float32, which does not.
std::optional<DataType> operand_type(ElementType type) noexcept;
/// The type that is the operand's own.
ElementType element_type(DataType type) noexcept;
/// The type of that spelling, or undefined.
ElementType element_type(std::string_view name) noexcept;

/// Calls f(T{}) with the C++ type of `type` if the importer calculates with it; false if it does
/// not (uint64, and what has no size). bool has the C++ type of its storage, std::uint8_t.
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
