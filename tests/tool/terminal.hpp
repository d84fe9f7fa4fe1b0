// Characters that must not be printed.
#pragma once

#include <cstddef>
#include <string>

namespace test_tool {

/// It has control characters, of one byte or as C1 in UTF-8. Line breaks are the tool's own.
inline bool is_obeyed_by_terminals(const std::string& text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte < 0x20 && byte != '\n') || byte == 0x7f) return true;
    if (byte == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0)
      return true;
  }
  return false;
}

}  // namespace test_tool
