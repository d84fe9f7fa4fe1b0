// Tensor data outside of the model's message.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "onnx/parse.hpp"
#include "polychron/buffer.hpp"

namespace polychron::onnx::detail {

/// The folder of `path`; empty if it names nothing.
std::filesystem::path folder_of(const std::filesystem::path& path);

/// A file with tensor data, in its state when the model was loaded.
struct DataFile {
  std::string location;  ///< as the model spells it
  std::filesystem::path path;
  std::uint64_t size = 0;
  std::filesystem::file_time_type time;
};

/// A range of bytes of a file next to the model. Thread-safe.
class ExternalRange {
 public:
  ExternalRange(std::shared_ptr<const DataFile> file, std::uint64_t offset, std::uint64_t length)
      : file_(std::move(file)), offset_(offset), length_(length) {}

  /// Reads the bytes, unless they are still in use elsewhere. Throws Error (bad_data) if the file
  /// is unreadable, or has changed since the model was loaded.
  std::shared_ptr<const Buffer> bytes() const;

 private:
  const std::shared_ptr<const DataFile> file_;
  const std::uint64_t offset_, length_;
  mutable std::mutex mutex_;
  mutable std::weak_ptr<const Buffer> bytes_;
};

/// Holds the tensor data of one model while it is loaded, except data in the message: separately
/// parsed raw data, and ranges of files next to the model. File names in a model are not trusted:
/// absolute paths, "..", symbolic links out of the model's folder, and all but regular files are
/// refused. Ranges are read, not mapped, as truncating a mapped file would end the process. Memory
/// is bounded by the sizes of the files: repeated ranges are shared, and overlapping ranges are
/// refused once they add up to more than the file.
class ExternalData {
 public:
  /// `directory` may be empty: then every request is refused.
  explicit ExternalData(std::filesystem::path directory, RawData parsed = {})
      : directory_(std::move(directory)), parsed_(std::move(parsed)) {}

  /// The separately parsed raw data of `tensor`; nullptr if the message has the data.
  std::shared_ptr<const Buffer> take(const proto::TensorProto& tensor);

  /// The `length` bytes at `offset` of the file at `location`. Checks that they exist, but does not
  /// read them yet. Throws Error (bad_data).
  std::shared_ptr<const ExternalRange> range(const std::string& location, std::uint64_t offset,
                                             std::uint64_t length);

 private:
  struct File {
    std::shared_ptr<const DataFile> file;
    std::uint64_t taken = 0;
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::shared_ptr<const ExternalRange>> ranges;
  };
  File& open(const std::string& location);

  std::filesystem::path directory_;
  RawData parsed_;
  std::map<std::string, File> files_;
};

}  // namespace polychron::onnx::detail
