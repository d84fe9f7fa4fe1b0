#include "apps/tool/printable.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace tool {
namespace {

struct CodePoint {
  std::uint32_t value = 0;
  std::size_t length = 0;  ///< in bytes; 0: not valid UTF-8
};

/// The first code point of `text`, which must not be empty.
CodePoint first_of(std::string_view text) {
  constexpr std::array<std::uint32_t, 5> smallest{0, 0, 0x80, 0x800, 0x10000};
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return {byte(0), 1};
  const std::size_t length = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
  if (byte(0) < 0xc0 || byte(0) >= 0xf8 || text.size() < length) return {};
  std::uint32_t value = byte(0) & (0xffu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    value = value << 6 | (byte(i) & 0x3fu);
  }
  const bool surrogate = value >= 0xd800 && value < 0xe000;
  if (value < smallest[length] || value > 0x10ffff || surrogate) return {};
  return {value, length};
}

/// True if a terminal would act on it instead of showing it. All are below U+10000.
bool is_obeyed(std::uint32_t value) {
  const auto between = [value](std::uint32_t low, std::uint32_t high) {
    return value >= low && value <= high;
  };
  return value < 0x20 || between(0x7f, 0x9f) || between(0x200e, 0x200f) ||
         between(0x2028, 0x202e) || between(0x2066, 0x2069);
}

std::string hexadecimal(std::uint32_t value, int digits) {
  std::string text;
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4)
    text += "0123456789abcdef"[value >> shift & 15];
  return text;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const auto [value, length] = first_of(text);
    const auto bytes = text.substr(0, std::max<std::size_t>(length, 1));
    if (length != 0 && !is_obeyed(value))
      result += bytes;
    else
      for (const char c : bytes) result += "\\x" + hexadecimal(static_cast<unsigned char>(c), 2);
    text.remove_prefix(bytes.size());
  }
  return result;
}

std::string to_text(const nlohmann::json& value) {
  const auto dump = value.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
  std::string result;
  // Line breaks occur only between elements, and non-ASCII characters only inside strings.
  for (std::string_view rest = dump; !rest.empty();) {
    const auto [code, length] = first_of(rest);
    if (code >= 0x7f && is_obeyed(code))
      result += "\\u" + hexadecimal(code, 4);
    else
      result += rest.substr(0, length);
    rest.remove_prefix(length);
  }
  return result;
}

}  // namespace tool
