// NumPy's .npy files: a tensor with its type and shape.
// Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
//
// Reads versions 1.0, 2.0 and 3.0, little-endian, with WebNN's types and those that operands carry
// in another: bool, float64, int16, uint16. Arrays in Fortran order become C order. Everything else
// is refused with the reason. Headers are bounded, and memory is allocated only for elements that
// the file has.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "polychron/buffer.hpp"
#include "polychron/descriptor.hpp"
#include "polychron/onnx_tensor.hpp"

namespace tool {

struct NpyArray {
  polychron::OperandDescriptor descriptor;
  /// ONNX's name of the elements' type where the operand has another: "bool" (uint8), "double"
  /// (float32), "int16" and "uint16" (int32). Otherwise empty.
  std::string_view carried;
  polychron::Buffer bytes;  ///< as in the file
};

/// The array as a value of an ONNX model. Takes over its bytes.
polychron::onnx::TensorValue to_value(NpyArray&& array);

/// "float32 [2, 4]", "bool [3]", "float64 [1]": type and shape in the file.
std::string to_string(const NpyArray& array);

/// The longest file that is accepted.
inline constexpr std::size_t max_npy_bytes = polychron::max_tensor_byte_length + 64 * 1024;

/// The first bytes of each file.
inline constexpr std::string_view npy_magic = "\x93NUMPY";

/// `name` is for messages. Throws UserError.
NpyArray parse_npy(std::span<const std::byte> file, const std::string& name);
NpyArray read_npy(const std::string& path);

/// The bytes of a file before its elements: version 1.0, a multiple of 64 bytes. `is_bool`: uint8
/// elements that are 0 or 1. Throws UserError for a type that such files cannot have.
std::string npy_header(const polychron::OperandDescriptor& descriptor, bool is_bool = false);

}  // namespace tool
