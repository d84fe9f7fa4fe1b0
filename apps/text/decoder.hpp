// The graph of a llama-like decoder: some rows of new tokens, which see a cache of earlier ones.
// Touvron et al.: "LLaMA: Open and Efficient Foundation Language Models" (2023);
// Su et al.: "RoFormer: Enhanced Transformer with Rotary Position Embedding" (2021).
#pragma once

#include <cstdint>

#include "apps/text/weights.hpp"
#include "polychron/graph.hpp"

namespace polychron::text::detail {

/// The inputs and outputs of a decoder's graph.
namespace port {
inline constexpr const char* embedding = "embedding";  ///< in: [rows, width]
/// In: cosines, then sines, of the angles of each row's position: [2 * rows, 1, features / 2].
inline constexpr const char* angles = "angles";
inline constexpr const char* length = "length";  ///< in: the number of cached tokens, int32 [1]
/// In: keys and values: [2 * layers, groups, length of the context, features]. The graph does not
/// write it: keys and values of the new rows are an output, which its owner appends.
inline constexpr const char* cache = "cache";
inline constexpr const char* rows = "rows";      ///< out: [2 * layers, groups, rows, features]
inline constexpr const char* logits = "logits";  ///< out: [1, tokens]; only of a graph of one row
}  // namespace port

/// What a graph is built for.
struct DecoderShape {
  std::uint32_t rows;     ///< of new tokens
  std::uint32_t context;  ///< length of the cache
};

/// The descriptor of the cache.
OperandDescriptor cache_descriptor(const DecoderSizes& sizes, const DecoderShape& shape);

/// Builds the graph. Of several rows each sees those before it; they give no logits. Rejects as
/// GraphBuilder::build() does.
Future<Graph> build_decoder(const Context& context, const DecoderSizes& sizes,
                            const DecoderWeights& weights, const DecoderShape& shape,
                            const std::string& label);

}  // namespace polychron::text::detail
