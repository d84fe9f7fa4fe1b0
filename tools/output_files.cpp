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

namespace {

UserError refusal(const fs::path& path, const std::string& why) {
  return UserError("cannot write '" + path.string() + "': " + why);
}

/// Throws unless a file is there, or nothing.
void refuse_directories(const fs::path& path) {
  std::error_code error;
  const auto status = fs::status(path, error);
  if (path.filename().empty() || fs::is_directory(status)) throw refusal(path, "it is a directory");
  if (!fs::status_known(status)) throw refusal(path, error.message());
}

}  // namespace

OutputFiles::~OutputFiles() {
  std::error_code ignored;
  for (const auto& [from, to] : files_) {
    fs::remove(from, ignored);
    keep_when_interrupted(from);
  }
}

void OutputFiles::add(const fs::path& path, std::vector<std::span<const std::byte>> parts) {
  refuse_directories(path);
  auto temporary = path;
  temporary.replace_filename(".polychron." + std::to_string(process_id()) + "." +
                             std::to_string(files_.size()));
  files_.emplace_back(temporary, path);
  remove_when_interrupted(temporary);
  errno = 0;
  std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
  if (!file) throw refusal(path, std::strerror(errno));
  for (const auto part : parts)
    file.write(reinterpret_cast<const char*>(part.data()),
               static_cast<std::streamsize>(part.size()));
  file.close();
  if (!file) throw refusal(path, errno != 0 ? std::strerror(errno) : "write error");
}

void OutputFiles::commit() {
  while (!files_.empty()) {
    const auto& [from, to] = files_.back();
    std::error_code error;
    fs::rename(from, to, error);
    if (error) throw refusal(to, error.message());
    keep_when_interrupted(from);
    files_.pop_back();
  }
}

void require_output_file(const fs::path& path) {
  refuse_directories(path);
  std::error_code error;
  const auto place = path.has_parent_path() ? path.parent_path() : fs::path(".");
  if (!fs::is_directory(place, error))
    throw refusal(path, "'" + place.string() + "' is no directory");
  if (const auto reason = reason_not_writable(place); !reason.empty()) throw refusal(path, reason);
}

void require_output_directory(const fs::path& given) {
  // A slash at the end says nothing new.
  const auto directory = given.has_filename() ? given : given.parent_path();
  std::error_code error;
  const auto refuse = [&](const std::string& why) {
    throw UserError("output directory '" + directory.string() + "': " + why);
  };
  const auto status = fs::status(directory, error);
  if (!fs::status_known(status)) refuse(error.message());
  const bool exists = fs::exists(status);
  const auto parent = fs::absolute(directory, error).lexically_normal().parent_path();
  const auto& place = exists ? directory : parent;
  if (!fs::is_directory(place, error))
    refuse(exists ? "is no directory" : "'" + parent.string() + "' is no directory");
  if (const auto reason = reason_not_writable(place); !reason.empty()) refuse(reason);
}

}  // namespace tool
