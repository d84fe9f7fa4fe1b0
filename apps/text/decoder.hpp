// The graph of a llama-like decoder: some rows of new tokens, which see a cache of earlier ones.
// Touvron et al.: "LLaMA: Open and Efficient Foundation Language Models" (2023);
// Su et al.: "RoFormer: Enhanced Transformer with Rotary Position Embedding" (2021).
#pragma once

#include <cstdint>
#include <string>

#include "apps/text/weights.hpp"
#include "polychron/graph.hpp"

namespace polychron::text::detail {

/// The inputs and outputs of a decoder's graph.
namespace port {
inline constexpr const char* embedding = "embedding";  ///< in: [rows, width]
/// In: cosines, then sines, of the angles of each row's position; those of layers with a window
/// behind them: [2 * bases * rows, 1, features / 2].
inline constexpr const char* angles = "angles";
inline constexpr const char* length = "length";  ///< in: cached tokens of each chat, int32 [chats]
inline constexpr const char* rows = "rows";      ///< out: [2 * layers, groups, rows, features]
inline constexpr const char* logits = "logits";  ///< out: [rows, tokens]; if each row is a chat's
/// In: keys and values of a chat: [2 * layers, groups, length of the context, features]. The graph
/// does not write it: keys and values of the new rows are an output, which its owner appends.
inline std::string cache(std::uint32_t chat) { return "cache" + std::to_string(chat); }
}  // namespace port

/// What a graph is built for: rows of one chat, or a row of each of several.
struct DecoderShape {
  std::uint32_t rows;     ///< of new tokens
  std::uint32_t context;  ///< length of a cache
  std::uint32_t chats = 1;
};

/// The descriptor of `angles`.
OperandDescriptor angles_descriptor(const DecoderSizes& sizes, std::uint32_t rows);

/// The descriptor of keys and values of `tokens` tokens.
OperandDescriptor cache_descriptor(const DecoderSizes& sizes, std::uint32_t tokens);

/// Builds the graph. Of several rows of a chat each sees those before it; they give no logits. A
/// row of a chat among others has the bits that it has alone. Rejects as GraphBuilder::build()
/// does.
Future<Graph> build_decoder(const Context& context, const DecoderSizes& sizes,
                            const DecoderWeights& weights, const DecoderShape& shape,
                            const std::string& label);

}  // namespace polychron::text::detail
