#include "apps/text/unicode.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>

#include "apps/text/unicode_tables.hpp"

namespace polychron::text::detail {

namespace {

constexpr std::uint32_t replacement = 0xfffd;

/// Unicode's White_Space above U+00A0.
constexpr CodeRange spaces[] = {{0x1680, 0x1680}, {0x2000, 0x200a}, {0x2028, 0x2029},
                                {0x202f, 0x202f}, {0x205f, 0x205f}, {0x3000, 0x3000}};

bool is_in(std::span<const CodeRange> ranges, std::uint32_t code) noexcept {
  const auto above = std::ranges::upper_bound(ranges, code, {}, &CodeRange::first);
  return above != ranges.begin() && code <= std::prev(above)->last;
}

/// Bytes of the character that begins with this byte; 0 for none.
std::size_t length_of(unsigned char first) noexcept {
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first < 0xe0) return 2;
  if (first >= 0xe0 && first < 0xf0) return 3;
  return first >= 0xf0 && first < 0xf5 ? 4 : 0;
}

bool is_continuation(char c) noexcept { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80; }

}  // namespace

CharClass char_class(std::uint32_t code) noexcept {
  if ((code >= 0x9 && code <= 0xd) || code == 0x20 || code == 0x85 || code == 0xa0 ||
      is_in(spaces, code))
    return CharClass::space;
  if (is_in(letters, code)) return CharClass::letter;
  return is_in(numbers, code) ? CharClass::number : CharClass::other;
}

CodePoint code_point(std::string_view text) noexcept {
  constexpr std::array<std::uint32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
  const auto first = static_cast<unsigned char>(text.front());
  const auto length = length_of(first);
  if (length == 1) return {first, 1};
  if (length == 0 || text.size() < length) return {replacement, 1};
  std::uint32_t code = first & (0xffU >> (length + 1));
  for (const char c : text.substr(1, length - 1)) {
    if (!is_continuation(c)) return {replacement, 1};
    code = code << 6U | (static_cast<unsigned char>(c) & 0x3fU);
  }
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  if (code < least[length] || code > 0x10ffff || surrogate) return {replacement, 1};
  return {code, length};
}

void append_utf8(std::string& text, std::uint32_t code) {
  const auto add = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
  const auto rest = [&](unsigned shift) { add(0x80U | (code >> shift & 0x3fU)); };
  if (code < 0x80) return add(code);
  if (code < 0x800) return add(0xc0U | code >> 6U), rest(0);
  if (code < 0x10000) return add(0xe0U | code >> 12U), rest(6), rest(0);
  add(0xf0U | code >> 18U), rest(12), rest(6), rest(0);
}

std::size_t complete_prefix(std::string_view text) noexcept {
  for (std::size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    const char c = text[text.size() - back];
    if (is_continuation(c)) continue;
    return length_of(static_cast<unsigned char>(c)) > back ? text.size() - back : text.size();
  }
  return text.size();
}

std::string valid_utf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    const auto next = code_point(text);
    if (next.code == replacement)
      append_utf8(valid, replacement);
    else
      valid += text.substr(0, next.bytes);
    text.remove_prefix(next.bytes);
  }
  return valid;
}

}  // namespace polychron::text::detail
