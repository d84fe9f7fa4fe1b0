// Data of tensors that is not in the model's message.
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

/// The folder that `path` is in; empty if it names nothing.
std::filesystem::path folder_of(const std::filesystem::path& path);

/// A file with data of tensors, as it was when the model was loaded.
struct DataFile {
  std::string location;  ///< in the model
  std::filesystem::path path;
  std::uint64_t size = 0;
  std::filesystem::file_time_type time;
};

/// Bytes of a file beside the model. Thread-safe.
class ExternalRange {
 public:
  ExternalRange(std::shared_ptr<const DataFile> file, std::uint64_t offset, std::uint64_t length)
      : file_(std::move(file)), offset_(offset), length_(length) {}

  /// Reads them, unless somebody has them still. Throws Error (bad_data): the file cannot be read,
  /// or has changed since the model was loaded.
  std::shared_ptr<const Buffer> bytes() const;

 private:
  const std::shared_ptr<const DataFile> file_;
  const std::uint64_t offset_, length_;
  mutable std::mutex mutex_;
  mutable std::weak_ptr<const Buffer> bytes_;
};

/// Has the data of one model's tensors while it is loaded, except what is in the message: what was
/// parsed beside it, and ranges of files beside the model. A file name in a model is not to
/// be trusted: absolute paths, "..", symbolic links that lead out of the model's folder, and
/// anything but regular files are refused. Ranges are read rather than mapped: a mapped file that
/// somebody shortens would end the process. Memory is bounded by the sizes of the files: a range
/// that is asked for again is shared, and ranges that overlap are refused once they add up to more
/// than the file.
class ExternalData {
 public:
  /// `directory` may be empty: then every request is refused.
  explicit ExternalData(std::filesystem::path directory, RawData parsed = {})
      : directory_(std::move(directory)), parsed_(std::move(parsed)) {}

  /// The raw data of `tensor` that was parsed beside its message; nullptr if it is in there.
  std::shared_ptr<const Buffer> take(const proto::TensorProto& tensor);

  /// The `length` bytes at `offset` of the file at `location`, which are there; they are not read
  /// yet. Throws Error (bad_data).
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
