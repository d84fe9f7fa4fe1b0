// Tensors on the host with ONNX's types, which are more than WebNN's: values that are known when a
// model is imported, and ONNX's tensor files.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "polychron/buffer.hpp"
#include "polychron/descriptor.hpp"

namespace polychron::onnx {

/// A tensor with its elements. Copies share the bytes, which are immutable.
struct TensorValue {
  std::string type;  ///< ONNX's spelling in lower case, as in ValueInfo: "float", "int64", "bool"
  Shape shape;       ///< may have dimensions of 0
  /// The elements in row-major order. Absent for types that are not kept on the host, such as
  /// strings and complex numbers.
  std::shared_ptr<const Buffer> bytes;
};

/// A value of one of WebNN's types. Takes over `bytes`. Throws Error (out_of_memory).
TensorValue make_value(const OperandDescriptor& descriptor, Buffer&& bytes);

/// The operand's type: bool becomes uint8. Empty for types without a WebNN counterpart.
std::optional<DataType> operand_type(const TensorValue& value) noexcept;

/// Reads a file with a serialized tensor (TensorProto; usually named .pb). Throws Error: bad_data
/// (the file is missing, unreadable, truncated or malformed), not_supported, out_of_memory.
TensorValue read_tensor(const std::filesystem::path& path);

/// The elements as bytes for an operand of `type`: unchanged or converted, for example from double
/// to float32 and from int16 to int32. Throws Error (not_supported) if there is no such conversion,
/// or a number is out of the range of `type`; out_of_memory.
Buffer operand_bytes(const TensorValue& value, DataType type);

}  // namespace polychron::onnx
