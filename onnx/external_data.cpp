#include "onnx/external_data.hpp"

#include <cerrno>
#include <fstream>
#include <system_error>

#include "onnx/problem.hpp"

namespace polychron::onnx::detail {

namespace {

namespace fs = std::filesystem;

std::string name_of(const std::string& location) { return "external data file " + quote(location); }

[[noreturn]] void refuse_file(const std::string& location, const std::string& why) {
  malformed(name_of(location) + ": " + why);
}

/// The resolved path of `location`. Throws if it is not in or below `directory`.
fs::path resolve(const fs::path& directory, const std::string& location) {
  const fs::path relative(location);
  const auto refuse = [&](const std::string& why) { refuse_file(location, why); };
  if (directory.empty()) refuse("the model was not loaded from a file, and no folder was given");
  if (location.empty() || location.find('\0') != std::string::npos || relative.is_absolute())
    refuse("a path relative to the model is expected");
  for (const auto& part : relative)
    if (part == "..") refuse("'..' is not allowed");
  std::error_code error;
  const auto root = fs::canonical(directory, error);
  if (error) refuse("the model's folder cannot be resolved: " + error.message());
  auto path = fs::canonical(root / relative, error);
  if (error) refuse(error.message());
  const auto inside = path.lexically_relative(root);
  if (inside.empty() || *inside.begin() == "..") refuse("it leads out of the model's folder");
  if (const auto why = reason_not_a_file(path); !why.empty()) refuse(why);
  return path;
}

}  // namespace

fs::path folder_of(const fs::path& path) {
  std::error_code error;
  const auto whole = fs::absolute(path, error);
  return error ? fs::path() : whole.parent_path();
}

std::shared_ptr<const Buffer> ExternalData::take(const proto::TensorProto& tensor) {
  auto found = parsed_.extract(&tensor);
  return found ? std::make_shared<const Buffer>(std::move(found.mapped())) : nullptr;
}

std::shared_ptr<const FileRange> ExternalData::found(const proto::TensorProto& tensor) const {
  const auto found = found_.find(&tensor);
  return found == found_.end() ? nullptr : found->second;
}

ExternalData::File& ExternalData::open(const std::string& location) {
  const auto found = files_.find(location);
  if (found != files_.end()) return found->second;
  const auto path = resolve(directory_, location);
  const auto state = state_of(path);
  if (!state) refuse_file(location, std::generic_category().message(errno));
  if (!std::ifstream(path, std::ios::binary)) refuse_file(location, "it cannot be read");
  return files_
      .emplace(location,
               File{std::make_shared<const DataFile>(name_of(location), path, *state), 0, {}})
      .first->second;
}

std::shared_ptr<const FileRange> ExternalData::range(const std::string& location,
                                                     std::uint64_t offset, std::uint64_t length,
                                                     std::size_t alignment) {
  auto& [file, taken, ranges] = open(location);
  if (offset > file->size() || length > file->size() - offset)
    refuse_file(location, std::to_string(length) + " bytes at " + std::to_string(offset) +
                              " are asked of its " + std::to_string(file->size()));
  auto& known = ranges[{offset, length}];
  if (known) return known;
  if (length > file->size() - taken) refuse_file(location, "initializers overlap in it");
  taken += length;
  known = std::make_shared<const FileRange>(file, offset, length, alignment);
  return known;
}

}  // namespace polychron::onnx::detail
