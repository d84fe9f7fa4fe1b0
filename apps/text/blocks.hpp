// The types of GGUF's tensors: blocks of weights, and their expansion to float32.
// https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace polychron::text::detail {

/// Turns integers into weights: integer * scale + minimum.
struct PartNumbers {
  float scale, minimum;
};

/// A type that is known here. Its weights are floats, or integers in parts with numbers of their
/// own.
struct BlockType {
  std::uint32_t number;   ///< in the file
  std::string_view name;  ///< "Q4_1"
  std::size_t weights;    ///< in a block
  std::size_t bytes;      ///< of a block
  std::size_t part;       ///< integers in a part; 0 for floats
  bool four_bits;         ///< integers are 0 to 15; otherwise they are signed, of 8 bits
  /// Reads whole blocks of floats.
  void (*read)(const std::uint8_t* blocks, std::size_t count, float* weights);
  /// Reads whole blocks of integers.
  void (*split)(const std::uint8_t* blocks, std::size_t count, std::int8_t* integers,
                PartNumbers* parts);
};

/// Null for a type that is not known here.
const BlockType* block_type(std::uint32_t number) noexcept;

/// Expands whole blocks: `bytes` are as long as `weights` need.
void expand(const BlockType& type, std::span<const std::byte> bytes, std::span<float> weights);

/// Splits whole blocks into integers and, for each BlockType::part of them, their numbers.
void split(const BlockType& type, std::span<const std::byte> bytes, std::span<std::int8_t> integers,
           std::span<PartNumbers> parts);

}  // namespace polychron::text::detail
