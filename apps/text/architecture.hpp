// The decoders that are known here: what they have in common has sizes, the rest is a table.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "apps/text/gguf.hpp"

namespace polychron::text::detail {

/// The differences from a llama decoder. One row of a table tells all about an architecture.
struct Architecture {
  std::string_view name;   ///< of `general.architecture`, and in front of its keys
  bool has_biases;         ///< of queries, keys and values
  bool normalizes_heads;   ///< each head of queries and keys, before it is rotated
  bool normalizes_parts;   ///< the results of attention and feed-forward, before they are added
  bool scales_embeddings;  ///< by the square root of their width
  /// Features i and i + features / 2 rotate together, as in GPT-NeoX. Otherwise 2 i and 2 i + 1 do.
  bool rotates_halves;
  bool has_gelu;  ///< gates by GELU's approximation with tanh. Otherwise by SiLU.
  /// One layer of so many sees all tokens, the last one of them. Others see a window, and have
  /// angles of their own. 0: all layers see all.
  std::uint32_t window_period;
};

/// Throws not_supported, with the name of the architecture.
const Architecture& architecture_of(const Gguf& gguf);

/// The sizes of a decoder, which its tensors have.
struct DecoderSizes {
  /// Throws Error: bad_data, not_supported (another architecture).
  explicit DecoderSizes(const Gguf& gguf);

  const Architecture& architecture;
  std::uint32_t layers, width, hidden;  ///< of the network; hidden: within its feed-forward part
  std::uint32_t heads, groups;          ///< of queries; of keys and values
  std::uint32_t features;               ///< of a head
  std::uint32_t context;                ///< tokens for which the model was made
  std::uint32_t window;  ///< tokens that a layer with a window sees; 0: there is none
  double epsilon;        ///< of normalizations
  /// Of the angles of rotary embeddings. A second one is of layers with a window.
  std::vector<double> bases;

  bool has_window(std::uint32_t layer) const noexcept {
    return window > 0 && (layer + 1) % architecture.window_period != 0;
  }
};

}  // namespace polychron::text::detail
