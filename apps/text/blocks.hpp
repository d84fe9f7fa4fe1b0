// The types of GGUF's tensors: blocks of weights, and their expansion to float32.
// https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace polychron::text::detail {

/// A type that is known here.
struct BlockType {
  std::uint32_t number;   ///< in the file
  std::string_view name;  ///< "Q4_1"
  std::size_t weights;    ///< in a block
  std::size_t bytes;      ///< of a block
  /// Expands whole blocks to float32.
  void (*expand)(const std::uint8_t* blocks, std::size_t count, float* weights);
};

/// Null for a type that is not known here.
const BlockType* block_type(std::uint32_t number) noexcept;

/// Expands whole blocks: `bytes` are as long as `weights` need.
void expand(const BlockType& type, std::span<const std::byte> bytes, std::span<float> weights);

}  // namespace polychron::text::detail
