// The files beside an exported language model: Hugging Face's tokenizer.json, and what tells the
// end of a text, the chat template and the context's length. Files come from strangers: their sizes
// and depths are bounded, and each value is checked.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "apps/text/gguf.hpp"
#include "apps/text/tokenizer.hpp"

namespace polychron::text::detail {

/// The texts of these files; empty: there is no such file.
struct SideTexts {
  std::string tokenizer;          ///< tokenizer.json; the others may be absent
  std::string tokenizer_config;   ///< tokenizer_config.json
  std::string chat_template;      ///< chat_template.jinja
  std::string config;             ///< config.json
  std::string generation_config;  ///< generation_config.json
  std::string genai_config;       ///< genai_config.json
};

/// What they tell.
struct SideFiles {
  Gguf metadata;              ///< as a GGUF file has it of the same tokenizer: one class reads both
  std::vector<TokenId> ends;  ///< tokens that end a text
  std::uint32_t context_length;  ///< tokens for which the model was made
};

/// Throws Error: bad_data, not_supported (another kind of tokenizer).
SideFiles parse_side_files(const SideTexts& texts);

/// The files in `folder`. Of a folder named "onnx" those around it, if it has no tokenizer.json.
/// Throws as parse_side_files() does.
SideFiles read_side_files(const std::filesystem::path& folder);

}  // namespace polychron::text::detail
