// Hugging Face's tokenizer.json as the metadata that a GGUF file has of the same tokenizer.
// https://github.com/huggingface/tokenizers
#pragma once

#include "apps/text/gguf.hpp"
#include "apps/text/json.hpp"

namespace polychron::text::detail {

/// Byte-pair encoding of bytes, or of characters as SentencePiece's. Throws Error: bad_data,
/// not_supported (another kind, or a part that is not known here).
Gguf tokenizer_metadata(const Json& tokenizer);

}  // namespace polychron::text::detail
