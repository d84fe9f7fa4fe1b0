#include "onnx/external_data.hpp"

#include <fstream>
#include <system_error>

#include "onnx/problem.hpp"

namespace polychron::onnx::detail {

namespace {

namespace fs = std::filesystem;

/// Where `location` really is. Throws if that is not in or below `directory`.
fs::path resolve(const fs::path& directory, const std::string& location) {
  const fs::path relative(location);
  const auto refuse = [&](const std::string& why) {
    malformed("external data file " + quote(location) + ": " + why);
  };
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

ExternalData::File& ExternalData::open(const std::string& location) {
  const auto found = files_.find(location);
  if (found != files_.end()) return found->second;
  File file{resolve(directory_, location), 0, 0, {}};
  std::error_code error;
  file.size = fs::file_size(file.path, error);
  if (error) malformed("external data file " + quote(location) + ": " + error.message());
  return files_.emplace(location, std::move(file)).first->second;
}

fs::path folder_of(const fs::path& path) {
  std::error_code error;
  const auto whole = fs::absolute(path, error);
  return error ? fs::path() : whole.parent_path();
}

std::shared_ptr<const Buffer> ExternalData::take(const proto::TensorProto& tensor) {
  auto found = parsed_.extract(&tensor);
  return found ? std::make_shared<const Buffer>(std::move(found.mapped())) : nullptr;
}

std::shared_ptr<const Buffer> ExternalData::read(const std::string& location, std::uint64_t offset,
                                                 std::uint64_t length) {
  auto& file = open(location);
  const auto range = std::to_string(length) + " bytes at " + std::to_string(offset);
  const auto refuse = [&](const std::string& why) {
    malformed("external data file " + quote(location) + ": " + why);
  };
  if (offset > file.size || length > file.size - offset)
    refuse(range + " are asked of its " + std::to_string(file.size));
  auto& known = file.ranges[{offset, length}];
  if (known) return known;
  if (length > file.size - file.taken) refuse("initializers overlap in it");
  file.taken += length;
  auto bytes = Buffer::uninitialized(static_cast<std::size_t>(length));
  std::ifstream stream(file.path, std::ios::binary);
  stream.seekg(static_cast<std::streamoff>(offset));
  if (length != 0)
    stream.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(length));
  if (!stream) refuse(range + " cannot be read");
  known = std::make_shared<const Buffer>(std::move(bytes));
  return known;
}

}  // namespace polychron::onnx::detail
