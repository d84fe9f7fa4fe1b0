// The graph of a llama-like decoder: some rows of new tokens, which see a cache of earlier ones.
// Touvron et al.: "LLaMA: Open and Efficient Foundation Language Models" (2023);
// Su et al.: "RoFormer: Enhanced Transformer with Rotary Position Embedding" (2021).
#pragma once

#include <cstdint>
#include <string>

#include "apps/text/network.hpp"
#include "apps/text/weights.hpp"

namespace polychron::text::detail {

/// The decoder's own inputs.
namespace port {
inline constexpr const char* embedding = "embedding";  ///< in: [rows, width]
/// In: cosines, then sines, of the angles of each row's position; those of layers with a window
/// behind them: [2 * bases * rows, 1, features / 2].
inline constexpr const char* angles = "angles";
}  // namespace port

/// The descriptor of `angles`.
OperandDescriptor angles_descriptor(const DecoderSizes& sizes, std::uint32_t rows);

/// The sizes of its keys and values.
CacheSizes cache_sizes(const DecoderSizes& sizes, DataType type);

/// Network::build().
Future<Graph> build_decoder(const Context& context, const DecoderSizes& sizes,
                            const DecoderWeights& weights, const NetworkShape& shape,
                            DataType cache_type, const std::string& label);

}  // namespace polychron::text::detail
