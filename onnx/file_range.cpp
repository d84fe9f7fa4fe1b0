#include "onnx/file_range.hpp"

#include <fstream>

#include "onnx/problem.hpp"

namespace polychron::onnx::detail {

std::shared_ptr<const MappedFile> DataFile::mapping() const {
  const std::lock_guard lock(mutex_);
  if (mapping_ == nullptr || !mapping_->is_ours()) mapping_ = MappedFile::map(path_, state_);
  return mapping_;
}

Buffer DataFile::copy(std::uint64_t offset, std::uint64_t length) const {
  if (state_of(path_) != state_) malformed(name_ + ": it has changed since the model was loaded");
  auto bytes = Buffer::uninitialized(static_cast<std::size_t>(length));
  std::ifstream stream(path_, std::ios::binary);
  stream.seekg(static_cast<std::streamoff>(offset));
  if (length != 0)
    stream.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(length));
  if (!stream)
    malformed(name_ + ": " + std::to_string(length) + " bytes at " + std::to_string(offset) +
              " cannot be read");
  return bytes;
}

FileRange::Bytes FileRange::bytes() const {
  const std::lock_guard lock(mutex_);
  if (auto copy = copy_.lock()) return {std::move(copy), true};
  if (length_ >= least_in_place && offset_ % alignment_ == 0)
    if (auto mapped = bytes_of(file_->mapping(), offset_, length_))
      return {std::move(mapped), false};
  const auto copy = std::make_shared<const Buffer>(file_->copy(offset_, length_));
  copy_ = copy;
  return {copy, true};
}

}  // namespace polychron::onnx::detail
