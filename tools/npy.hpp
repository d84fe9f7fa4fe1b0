// NumPy's .npy files: a tensor with its type and shape.
// Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
//
// Read are versions 1.0, 2.0 and 3.0, little-endian, of WebNN's types, of bool, which becomes
// uint8, and of float64, which is float32 in the descriptor; arrays in Fortran order become C
// order. Everything else is refused with the reason. Headers are bounded, and no memory is taken
// for elements that the file does not have.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "polychron/buffer.hpp"
#include "polychron/descriptor.hpp"

namespace tool {

struct NpyArray {
  polychron::OperandDescriptor descriptor;
  bool is_bool = false;    ///< uint8 values that are 0 or 1
  bool is_double = false;  ///< `bytes` are float64 yet, which nothing has rounded to float32
  polychron::Buffer bytes;
};

/// "float32 [2, 4]", "bool [3]", "float64 [1]": what the file has.
std::string to_string(const NpyArray& array);

/// No file that is read is longer.
inline constexpr std::size_t max_npy_bytes = polychron::max_tensor_byte_length + 64 * 1024;

/// What they begin with.
inline constexpr std::string_view npy_magic = "\x93NUMPY";

/// `name` is for messages. Throws UserError.
NpyArray parse_npy(std::span<const std::byte> file, const std::string& name);
NpyArray read_npy(const std::string& path);

/// What comes before the elements in a file: version 1.0, a multiple of 64 bytes. Throws UserError
/// for a type that such files do not have. `is_bool`: uint8 elements that are 0 or 1.
std::string npy_header(const polychron::OperandDescriptor& descriptor, bool is_bool = false);

}  // namespace tool
