// A loaded model: what all its generations share. Immutable.
#pragma once

#include <memory>
#include <string>

#include "apps/text/decoder.hpp"
#include "apps/text/tokenizer.hpp"
#include "polychron/text.hpp"

namespace polychron::text::detail {

/// Rows of the graph for prompts. A longer prompt goes in pieces, so that others wait for a piece
/// at most.
inline constexpr std::uint32_t prompt_rows = 64;

class ModelState {
 public:
  ModelState(const Context& on, const GgufFile& file, const LoadOptions& options,
             std::string own_label);

  const std::string label;
  const Context context;
  const Tokenizer tokenizer;
  const DecoderSizes sizes;
  const std::uint32_t context_length;
  const bool has_chat;
  PackedMatrix embedding;
  Graph one_row, several_rows;
};

/// Continues the prompt. Throws type_error.
Future<Generated> generate(std::shared_ptr<const ModelState> model, std::vector<TokenId> prompt,
                           const GenerateOptions& options);

}  // namespace polychron::text::detail
