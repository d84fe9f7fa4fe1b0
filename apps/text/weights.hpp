// The weights of a llama-like decoder in a GGUF file, as constants of a context.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/text/architecture.hpp"
#include "apps/text/gguf.hpp"
#include "polychron/context.hpp"

namespace polychron::text::detail {

/// A matrix in blocks, as the file has it.
class PackedMatrix {
 public:
  PackedMatrix() = default;
  PackedMatrix(const GgufTensor& tensor, Buffer bytes);
  std::uint32_t rows() const noexcept { return rows_; }
  std::uint32_t columns() const noexcept { return columns_; }
  const BlockType& type() const noexcept { return *type_; }
  /// Expands a row.
  void row(std::uint32_t i, std::span<float> to) const;
  /// The integers of a row, and their numbers.
  void row(std::uint32_t i, std::span<std::int8_t> integers, std::span<PartNumbers> parts) const;

 private:
  std::span<const std::byte> row_bytes(std::uint32_t i) const;

  const BlockType* type_ = nullptr;
  Buffer bytes_;
  std::uint32_t rows_ = 0, columns_ = 0;
};

/// A matrix [outputs, inputs] as constants. It is float32, or integers [outputs, blocks, block]
/// with numbers [outputs, blocks, 1]: integer * scale + minimum.
struct MatrixWeights {
  Tensor elements;
  std::optional<Tensor> scales, minima;
};

/// A vector that the architecture does not have is empty.
struct LayerWeights {
  std::vector<float> attention_norm, feed_forward_norm;
  std::vector<float> attention_part_norm, feed_forward_part_norm;  ///< of results
  /// Rows for the first halves of the features of all heads of queries and keys, then for the
  /// second halves, then for values. So the rotation has two operands without gaps.
  MatrixWeights attention;
  std::vector<float> attention_bias;  ///< in the order of these rows
  std::vector<float> heads_norm;      ///< the same, without values
  MatrixWeights attention_output, gate_and_up, down;
};

struct DecoderWeights {
  std::vector<LayerWeights> layers;
  std::vector<float> norm;
  MatrixWeights head;
  PackedMatrix embedding;  ///< stays packed: a step needs one row
};

/// Reads all weights. Integers stay packed. Throws Error: bad_data, not_supported (a tensor that
/// this architecture does not have), and as Context::create_constant_tensor() does.
DecoderWeights read_weights(const GgufFile& file, const DecoderSizes& sizes,
                            const Context& context);

}  // namespace polychron::text::detail
