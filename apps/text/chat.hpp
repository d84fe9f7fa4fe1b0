// Chat templates: how the messages of a chat become one prompt.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "apps/text/gguf.hpp"
#include "apps/text/tokenizer.hpp"
#include "polychron/text.hpp"

namespace polychron::text::detail {

enum class ChatTemplate : std::uint8_t {
  none,
  chatml,  ///< SmolLM2, Qwen
  gemma
};

/// The file's template. It is recognised by its control tokens, as llama.cpp does: a template is a
/// program in Jinja, which nothing here runs.
ChatTemplate chat_template(const Gguf& gguf, const Tokenizer& tokenizer);

/// The prompt for the next message. It refers to `chat`.
std::vector<Segment> chat_prompt(ChatTemplate kind, const std::vector<Message>& chat);

}  // namespace polychron::text::detail
