// Chat templates: how the messages of a chat become one prompt.
#pragma once

#include <string_view>
#include <vector>

#include "apps/text/gguf.hpp"
#include "apps/text/tokenizer.hpp"
#include "polychron/text.hpp"

namespace polychron::text::detail {

/// True if the file's template is ChatML. It is recognised by its control token, as llama.cpp does:
/// a template is a program in Jinja, which nothing here runs.
bool has_chatml(const Gguf& gguf, const Tokenizer& tokenizer);

/// The prompt for the next message. It refers to `chat`.
std::vector<Segment> chatml(const std::vector<Message>& chat);

}  // namespace polychron::text::detail
