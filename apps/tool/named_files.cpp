#include "apps/tool/named_files.hpp"

#include <filesystem>
#include <system_error>

#include "apps/tool/input_file.hpp"
#include "apps/tool/program.hpp"

namespace tool {
namespace {

namespace fs = std::filesystem;

/// True if both paths mean the same file, even if it does not exist yet.
bool are_same(const fs::path& a, const fs::path& b) {
  std::error_code error;
  if (fs::equivalent(a, b, error)) return true;
  const auto place_of_a = fs::weakly_canonical(fs::absolute(a, error), error);
  if (error) return a == b;
  const auto place_of_b = fs::weakly_canonical(fs::absolute(b, error), error);
  return error ? a == b : place_of_a == place_of_b;
}

bool is_file(const NamedFile& file) { return !file.path.empty() && file.path != standard_stream; }

void refuse_same(const NamedFile& written, const NamedFile& other) {
  if (is_file(written) && is_file(other) && are_same(written.path, other.path))
    throw UserError(written.what + " and " + other.what + " are the same file: '" + written.path +
                    "'");
}

}  // namespace

void check_files(const std::vector<NamedFile>& read, const std::vector<NamedFile>& written) {
  const NamedFile* reader = nullptr;
  for (const auto& file : read) {
    if (file.path != standard_stream) continue;
    if (reader != nullptr)
      throw UserError(reader->what + " and " + file.what +
                      " cannot both be from standard input ('-')");
    reader = &file;
  }
  for (auto file = written.begin(); file != written.end(); ++file) {
    for (const auto& other : read) refuse_same(*file, other);
    for (auto other = written.begin(); other != file; ++other) refuse_same(*file, *other);
  }
}

}  // namespace tool
