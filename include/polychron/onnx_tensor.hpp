// Tensors on the host, of the types that ONNX has, which are more than WebNN's: values that are
// known when a model is imported, and ONNX's tensor files.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "polychron/buffer.hpp"
#include "polychron/descriptor.hpp"

namespace polychron::onnx {

/// A tensor with its elements. Copies share the bytes, which nobody changes.
struct TensorValue {
  std::string type;  ///< ONNX's spelling in lower case, as in ValueInfo: "float", "int64", "bool"
  Shape shape;       ///< may have dimensions of 0
  /// Row-major. Absent for types that are not held on the host, as strings and complex numbers.
  std::shared_ptr<const Buffer> bytes;
};

/// Of one of WebNN's types; takes `bytes`.
TensorValue make_value(const OperandDescriptor& descriptor, Buffer&& bytes);

/// The operand's type: bool is uint8. Empty for types that WebNN has none for.
std::optional<DataType> operand_type(const TensorValue& value) noexcept;

/// Reads a file that has a serialized tensor (TensorProto; usually named .pb). Throws Error:
/// bad_data (the file is missing, unreadable, truncated or malformed), not_supported,
/// out_of_memory.
TensorValue read_tensor(const std::filesystem::path& path);

/// The elements for an operand of `type`: as they are, or the same numbers converted, as from
/// double to float32 and from int16 to int32. Throws Error (not_supported) if there is no such
/// conversion, or a number is beyond the range of `type`.
Buffer operand_bytes(const TensorValue& value, DataType type);

}  // namespace polychron::onnx
