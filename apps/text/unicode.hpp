// UTF-8, and the classes of characters by which text is cut before it is tokenized.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace polychron::text::detail {

/// The class of a code point, in the regular expressions of tokenizers.
enum class CharClass : std::uint8_t { letter, number, space, other };

CharClass char_class(std::uint32_t code) noexcept;

/// A code point, and its length in bytes. A byte that is not valid UTF-8 stands for itself, with
/// the code U+FFFD.
struct CodePoint {
  std::uint32_t code = 0;
  std::size_t bytes = 0;
};

/// The code point at `text`, which is not empty.
CodePoint code_point(std::string_view text) noexcept;

/// Appends the code point as UTF-8.
void append_utf8(std::string& text, std::uint32_t code);

/// The length of the part of `text` before a last character that is not complete yet.
std::size_t complete_prefix(std::string_view text) noexcept;

/// `text`, with U+FFFD for each byte that is not valid UTF-8.
std::string valid_utf8(std::string_view text);

}  // namespace polychron::text::detail
