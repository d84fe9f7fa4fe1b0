#include "apps/tool/output_files.hpp"

#include <string>
#include <system_error>

#include "apps/tool/input_file.hpp"
#include "apps/tool/platform.hpp"
#include "apps/tool/program.hpp"
#include "polychron/error.hpp"

namespace tool {

namespace fs = std::filesystem;

namespace {

UserError refusal(const fs::path& path, const std::string& why) {
  return UserError("cannot write '" + path.string() + "': " + why);
}

/// Throws unless the path is free or a regular file: a rename would replace a device or a pipe.
void refuse_all_but_files(const fs::path& path) {
  std::error_code error;
  const auto status = fs::status(path, error);
  if (path.filename().empty() || fs::is_directory(status)) throw refusal(path, "it is a directory");
  if (!fs::status_known(status)) throw refusal(path, error.message());
  if (fs::exists(status) && !fs::is_regular_file(status))
    throw refusal(path, "it is not a regular file");
  if (is_standard_stream(path)) throw refusal(path, "standard output or standard error goes there");
}

/// Removes empty parts: "out" for "out///".
fs::path without_empty_parts(const fs::path& path) {
  fs::path result;
  for (const auto& part : path)
    if (!part.empty()) result /= part;
  return result;
}

}  // namespace

OutputFiles::~OutputFiles() {
  for (const auto& each : files_) keep_when_interrupted(each.file.path());
}

void OutputFiles::add(const fs::path& path, std::vector<std::span<const std::byte>> parts) {
  refuse_all_but_files(path);
  try {
    auto& file = files_.emplace_back(File{path, polychron::NewFile(path)}).file;
    remove_when_interrupted(file.path());
    for (const auto part : parts) file.write(part);
    file.close();
  } catch (const polychron::Error& error) {
    throw refusal(path, error.message());
  }
}

void OutputFiles::commit() {
  while (!files_.empty()) {
    auto& [path, file] = files_.back();
    try {
      file.put_in_place();
    } catch (const polychron::Error& error) {
      throw refusal(path, error.message());
    }
    keep_when_interrupted(file.path());
    files_.pop_back();
  }
}

OutputDirectory::OutputDirectory(const fs::path& path) : path_(without_empty_parts(path)) {
  std::error_code ignored;  // if it fails, a later write reports it
  is_new_ = fs::create_directory(path_, ignored);
}

OutputDirectory::~OutputDirectory() {
  std::error_code not_empty;
  if (is_new_) fs::remove(path_, not_empty);
}

void require_output_file(const fs::path& path) {
  if (path == standard_stream)
    throw refusal(path, "expected a file: standard output is for the results");
  refuse_all_but_files(path);
  std::error_code error;
  const auto place = path.has_parent_path() ? path.parent_path() : fs::path(".");
  if (!fs::is_directory(place, error))
    throw refusal(path, "'" + place.string() + "' is not a directory");
  if (const auto reason = reason_not_writable(place); !reason.empty()) throw refusal(path, reason);
}

void require_output_directory(const fs::path& given) {
  const auto directory = without_empty_parts(given);
  std::error_code error;
  const auto refuse = [&](const std::string& why) {
    throw UserError("output directory '" + directory.string() + "': " + why);
  };
  const auto status = fs::status(directory, error);
  if (!fs::status_known(status)) refuse(error.message());
  const bool exists = fs::exists(status);
  const auto parent = fs::absolute(directory, error).lexically_normal().parent_path();
  if (error) refuse("there is no working directory");
  const auto& place = exists ? directory : parent;
  if (!fs::is_directory(place, error))
    refuse(exists ? "is not a directory" : "'" + parent.string() + "' is not a directory");
  if (const auto reason = reason_not_writable(place); !reason.empty()) refuse(reason);
}

}  // namespace tool
