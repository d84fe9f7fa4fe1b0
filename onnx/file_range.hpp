// Ranges of files that hold tensors: used in place where that is possible, else read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "onnx/mapped_file.hpp"
#include "polychron/buffer.hpp"

namespace polychron::onnx::detail {

/// A file with tensor data, in its state when the model was loaded. Thread-safe.
class DataFile {
 public:
  /// `name` in messages: "external data file 'w.bin'".
  DataFile(std::string name, std::filesystem::path path, const FileState& state)
      : name_(std::move(name)), path_(std::move(path)), state_(state) {}

  std::uint64_t size() const noexcept { return state_.size; }
  /// Null if its bytes have to be copied. The mapping is kept.
  std::shared_ptr<const MappedFile> mapping() const;
  /// A copy of a range. Throws Error (bad_data) if the file is unreadable, or has changed since the
  /// model was loaded.
  Buffer copy(std::uint64_t offset, std::uint64_t length) const;

 private:
  const std::string name_;
  const std::filesystem::path path_;
  const FileState state_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const MappedFile> mapping_;
};

/// The bytes of a tensor in a file. Thread-safe.
class FileRange {
 public:
  /// Smaller ones are copied: a copy takes less than what is kept for a range.
  static constexpr std::uint64_t least_in_place = 1U << 16;

  /// `alignment` in bytes, of the elements.
  FileRange(std::shared_ptr<const DataFile> file, std::uint64_t offset, std::uint64_t length,
            std::size_t alignment)
      : file_(std::move(file)), offset_(offset), length_(length), alignment_(alignment) {}

  std::uint64_t length() const noexcept { return length_; }

  struct Bytes {
    std::shared_ptr<const Buffer> bytes;
    bool copied = false;
  };
  /// The bytes: of the mapped file if they are large, and aligned there; else a copy. Copies are
  /// shared as long as one is in use. Throws Error (bad_data) if the file is unreadable, or has
  /// changed since the model was loaded.
  Bytes bytes() const;

 private:
  const std::shared_ptr<const DataFile> file_;
  const std::uint64_t offset_, length_;
  const std::size_t alignment_;
  mutable std::mutex mutex_;
  mutable std::weak_ptr<const Buffer> copy_;
};

}  // namespace polychron::onnx::detail
