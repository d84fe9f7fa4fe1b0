#include "tools/standard_input.hpp"

#include <algorithm>
#include <cstdio>
#include <string>

#include "tools/command.hpp"

namespace tool {

std::vector<std::byte> read_standard_input(std::size_t limit, std::string_view magic) {
  static bool taken = false;
  if (taken) throw UserError("'-' is given twice: standard input can be read once");
  taken = true;
  constexpr std::size_t piece = std::size_t{1} << 20;
  std::vector<std::byte> bytes;
  for (std::size_t size = 0;;) {
    bytes.resize(size + std::min(piece, limit - size + 1));
    size += std::fread(bytes.data() + size, 1, bytes.size() - size, stdin);
    if (size > limit)
      throw UserError("standard input: it has more than " + std::to_string(limit) + " bytes");
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), size);
    if (size == bytes.size() && text.starts_with(magic)) continue;
    if (std::ferror(stdin) != 0) throw UserError("standard input: it cannot be read");
    bytes.resize(size);
    return bytes;
  }
}

}  // namespace tool
