#include "onnx/external_data.hpp"

#include <fstream>
#include <system_error>

#include "onnx/problem.hpp"

namespace polychron::onnx::detail {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_file(const std::string& location, const std::string& why) {
  malformed("external data file " + quote(location) + ": " + why);
}

std::string range_text(std::uint64_t offset, std::uint64_t length) {
  return std::to_string(length) + " bytes at " + std::to_string(offset);
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

std::shared_ptr<const Buffer> ExternalRange::bytes() const {
  const std::lock_guard lock(mutex_);
  if (auto known = bytes_.lock()) return known;
  std::error_code error;
  const bool changed = fs::file_size(file_->path, error) != file_->size || error ||
                       fs::last_write_time(file_->path, error) != file_->time || error;
  if (changed) refuse_file(file_->location, "it has changed since the model was loaded");
  auto bytes = Buffer::uninitialized(static_cast<std::size_t>(length_));
  std::ifstream stream(file_->path, std::ios::binary);
  stream.seekg(static_cast<std::streamoff>(offset_));
  if (length_ != 0)
    stream.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(length_));
  if (!stream) refuse_file(file_->location, range_text(offset_, length_) + " cannot be read");
  auto known = std::make_shared<const Buffer>(std::move(bytes));
  bytes_ = known;
  return known;
}

ExternalData::File& ExternalData::open(const std::string& location) {
  const auto found = files_.find(location);
  if (found != files_.end()) return found->second;
  DataFile file{location, resolve(directory_, location), 0, {}};
  std::error_code error;
  file.size = fs::file_size(file.path, error);
  if (!error) file.time = fs::last_write_time(file.path, error);
  if (error) refuse_file(location, error.message());
  if (!std::ifstream(file.path, std::ios::binary)) refuse_file(location, "it cannot be read");
  return files_.emplace(location, File{std::make_shared<const DataFile>(std::move(file)), 0, {}})
      .first->second;
}

std::shared_ptr<const ExternalRange> ExternalData::range(const std::string& location,
                                                         std::uint64_t offset,
                                                         std::uint64_t length) {
  auto& [file, taken, ranges] = open(location);
  if (offset > file->size || length > file->size - offset)
    refuse_file(location,
                range_text(offset, length) + " are asked of its " + std::to_string(file->size));
  auto& known = ranges[{offset, length}];
  if (known) return known;
  if (length > file->size - taken) refuse_file(location, "initializers overlap in it");
  taken += length;
  known = std::make_shared<const ExternalRange>(file, offset, length);
  return known;
}

}  // namespace polychron::onnx::detail
