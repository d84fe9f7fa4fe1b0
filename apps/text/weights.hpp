// The weights of a llama-like decoder in a GGUF file, as constants of a context.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "apps/text/gguf.hpp"
#include "polychron/context.hpp"

namespace polychron::text::detail {

/// The sizes of a decoder, which its tensors have.
struct DecoderSizes {
  /// Throws Error: bad_data, not_supported (another architecture).
  explicit DecoderSizes(const Gguf& gguf);

  std::uint32_t layers, width, hidden;  ///< of the network; hidden: within its feed-forward part
  std::uint32_t heads, groups;          ///< of queries; of keys and values
  std::uint32_t features;               ///< of a head
  std::uint32_t context;                ///< tokens for which the model was made
  double epsilon;                       ///< of normalizations
  double base;                          ///< of the angles of rotary embeddings
};

/// A matrix in blocks, as the file has it.
class PackedMatrix {
 public:
  PackedMatrix() = default;
  PackedMatrix(const GgufTensor& tensor, Buffer bytes);
  std::uint32_t rows() const noexcept { return rows_; }
  std::uint32_t columns() const noexcept { return columns_; }
  /// Expands a row.
  void row(std::uint32_t i, std::span<float> to) const;

 private:
  const BlockType* type_ = nullptr;
  Buffer bytes_;
  std::uint32_t rows_ = 0, columns_ = 0;
};

/// Constant tensors are [outputs, inputs].
struct LayerWeights {
  std::vector<float> attention_norm, feed_forward_norm;
  /// Rows for the first halves of the features of all heads of queries and keys, then for the
  /// second halves, then for values. So the rotation has two operands without gaps.
  Tensor attention;
  Tensor attention_output, gate_and_up, down;
};

struct DecoderWeights {
  std::vector<LayerWeights> layers;
  std::vector<float> norm;
  Tensor head;
  PackedMatrix embedding;  ///< stays packed: a step needs one row
};

/// Reads and expands all weights. Throws Error: bad_data, not_supported (a tensor that this
/// architecture does not have), and as Context::create_constant_tensor() does.
DecoderWeights read_weights(const GgufFile& file, const DecoderSizes& sizes,
                            const Context& context);

}  // namespace polychron::text::detail
