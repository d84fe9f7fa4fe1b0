// Shapes and descriptors (WebNN: MLOperandDescriptor, MLTensorDescriptor).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "polychron/data_type.hpp"

namespace polychron {

/// Dimensions, outermost first; an empty shape is a scalar. WebNN's `unsigned long` is 32 bits
/// wide.
using Shape = std::vector<std::uint32_t>;

/// The highest rank of an operand or tensor.
inline constexpr std::size_t max_rank = 8;

/// The most bytes that one tensor or operand may have: 2^31 - 1, the limit that browsers use.
inline constexpr std::uint64_t max_tensor_byte_length = 0x7fff'ffff;

/// WebNN's MLOperandDescriptor. https://www.w3.org/TR/webnn/#dictdef-mloperanddescriptor
struct OperandDescriptor {
  DataType data_type = DataType::float32;  ///< of every element
  /// A dimension of 0 is refused where the descriptor is used.
  Shape shape{};
  /// The same type and shape.
  friend bool operator==(const OperandDescriptor&, const OperandDescriptor&) = default;
};

/// WebNN's MLTensorDescriptor, with a label.
/// https://www.w3.org/TR/webnn/#dictdef-mltensordescriptor
struct TensorDescriptor : OperandDescriptor {
  bool readable = false;  ///< read_tensor() and export_tensor() are allowed
  bool writable = false;  ///< write_tensor() is allowed
  std::string label{};    ///< in messages about the tensor; empty: they show its number
};

/// The fields of a TensorDescriptor besides data type and shape, for calls such as
/// `context.create_tensor(descriptor, {.readable = true, .label = "output"})`.
struct TensorUsage {
  bool readable = false;  ///< TensorDescriptor::readable
  bool writable = false;  ///< TensorDescriptor::writable
  std::string label{};    ///< TensorDescriptor::label
};

/// The number of elements of `shape`; nullopt if it does not fit 64 bits.
std::optional<std::uint64_t> element_count(const Shape& shape) noexcept;

/// The number of bytes of a tensor with this descriptor; nullopt if it does not fit 64 bits.
std::optional<std::uint64_t> byte_length(const OperandDescriptor& descriptor) noexcept;

/// "[2, 3]".
std::string to_string(const Shape& shape);

/// "float32 [2, 3]".
std::string to_string(const OperandDescriptor& descriptor);

}  // namespace polychron
