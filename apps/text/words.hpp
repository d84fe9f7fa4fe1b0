// Cutting text into words, in which byte-pair encoding merges.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "apps/text/unicode.hpp"

namespace polychron::text::detail {

/// A rule for words, by its name in `tokenizer.ggml.pre`.
struct WordRule {
  std::string_view name;
  bool cuts_digits;  ///< every digit before all else
  bool has_lines;    ///< GPT-4's expression in place of GPT-2's: words end at line breaks
  std::uint32_t most_digits = 1;  ///< of a word, by GPT-4's expression
  bool takes_whole = false;       ///< a word that is a token is not made by merges
};

/// Null for a name that is not known here.
const WordRule* word_rule(std::string_view name) noexcept;

/// Calls f(word) for each word of a text, in order. All words together are the text.
void each_word(std::string_view text, const WordRule& rule,
               const std::function<void(std::string_view word)>& f);

}  // namespace polychron::text::detail
