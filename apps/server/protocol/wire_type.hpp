// The protocol's element types, and how they become operands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <polychron/buffer.hpp>
#include <polychron/data_type.hpp>
#include <string_view>

namespace polychron::server {

/// In the order of Triton's enum DataType, which begins with 1. BF16 is Triton's.
enum class WireType : std::uint8_t {
  boolean,
  uint8,
  uint16,
  uint32,
  uint64,
  int8,
  int16,
  int32,
  int64,
  fp16,
  fp32,
  fp64,
  bytes,  ///< strings: each is its length (4 bytes, little-endian) and its bytes
  bf16
};

/// "BOOL", "FP32", ...
std::string_view to_string(WireType type) noexcept;
std::optional<WireType> wire_type_from(std::string_view name) noexcept;
/// Of one element; 0 for strings, whose sizes differ.
std::size_t byte_size(WireType type) noexcept;
/// The type of a model's value, by ONNX's spelling: "float" is FP32. Empty for types that the
/// protocol does not have.
std::optional<WireType> wire_type_of(std::string_view onnx_type) noexcept;

/// The operand's bytes of a value on the wire: the same, except for 16-bit integers (int32), and
/// FP64 and BF16 (float32). Throws out_of_memory.
Buffer to_operand(WireType type, Buffer&& wire);
/// The reverse, for outputs.
Buffer from_operand(WireType type, Buffer&& operand);

}  // namespace polychron::server
