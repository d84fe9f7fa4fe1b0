#include "tools/output_files.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <system_error>

#include "tools/command.hpp"
#include "tools/platform.hpp"

namespace tool {

namespace fs = std::filesystem;

OutputFiles::~OutputFiles() {
  std::error_code ignored;
  for (const auto& [from, to] : files_) fs::remove(from, ignored);
}

void OutputFiles::add(const fs::path& path, std::vector<std::span<const std::byte>> parts) {
  const auto refuse = [&](const std::string& why) {
    throw UserError("cannot write '" + path.string() + "': " + why);
  };
  if (path.filename().empty() || fs::is_directory(path)) refuse("it is a directory");
  auto temporary = path;
  temporary.replace_filename("." + path.filename().string() + "." + std::to_string(process_id()));
  errno = 0;
  std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
  if (!file) refuse(std::strerror(errno));
  files_.emplace_back(temporary, path);
  for (const auto part : parts)
    file.write(reinterpret_cast<const char*>(part.data()),
               static_cast<std::streamsize>(part.size()));
  file.close();
  if (!file) refuse(errno != 0 ? std::strerror(errno) : "write error");
}

void OutputFiles::commit() {
  while (!files_.empty()) {
    const auto& [from, to] = files_.back();
    std::error_code error;
    fs::rename(from, to, error);
    if (error) throw UserError("cannot write '" + to.string() + "': " + error.message());
    files_.pop_back();
  }
}

void require_output_directory(const fs::path& directory) {
  std::error_code error;
  const auto refuse = [&](const std::string& why) {
    throw UserError("output directory '" + directory.string() + "': " + why);
  };
  const bool exists = fs::exists(directory, error);
  const auto parent = fs::absolute(directory, error).lexically_normal().parent_path();
  const auto& place = exists ? directory : parent;
  if (!fs::is_directory(place, error))
    refuse(exists ? "is no directory" : "'" + parent.string() + "' is no directory");
  if (const auto reason = reason_not_writable(place); !reason.empty()) refuse(reason);
}

}  // namespace tool
