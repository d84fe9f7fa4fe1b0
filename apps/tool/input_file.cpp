#include "apps/tool/input_file.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "apps/tool/program.hpp"

namespace tool {

namespace fs = std::filesystem;

std::string name_of_input(const std::string& path) {
  return path == standard_stream ? standard_input_name : path;
}

std::vector<std::byte> read_file(const std::string& path, const std::string& what,
                                 std::size_t limit) {
  const auto refuse = [&](const std::string& why) {
    throw UserError(what + " '" + path + "': " + why);
  };
  std::error_code error;
  const auto status = fs::status(path, error);
  if (!fs::status_known(status)) refuse(error.message());
  if (!fs::exists(status)) refuse("there is no such file");
  if (fs::is_directory(status)) refuse("it is a directory");
  // Check before opening: opening a pipe waits for its other end, and devices have no end.
  if (!fs::is_regular_file(status)) refuse("it is not a regular file");
  const auto size = fs::file_size(path, error);
  std::ifstream file(path, std::ios::binary);
  if (error || !file) refuse("it cannot be opened for reading");
  if (size > limit) refuse("it has more than " + std::to_string(limit) + " bytes");
  std::vector<std::byte> bytes(size);
  if (!file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size)))
    refuse("it cannot be read");
  return bytes;
}

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
