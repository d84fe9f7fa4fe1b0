// Data of tensors that is not in the model's message.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "onnx/parse.hpp"
#include "polychron/buffer.hpp"

namespace polychron::onnx::detail {

/// The folder that `path` is in; empty if it names nothing.
std::filesystem::path folder_of(const std::filesystem::path& path);

/// Has the data of one model's tensors while it is loaded, but for what is in the message: what was
/// parsed beside it, and files beside the model, which it reads. A file name in a model is not to
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

  /// The `length` bytes at `offset` of the file at `location`. Throws Error (bad_data).
  std::shared_ptr<const Buffer> read(const std::string& location, std::uint64_t offset,
                                     std::uint64_t length);

 private:
  struct File {
    std::filesystem::path path;
    std::uint64_t size = 0;
    std::uint64_t taken = 0;
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::shared_ptr<const Buffer>> ranges;
  };
  File& open(const std::string& location);

  std::filesystem::path directory_;
  RawData parsed_;
  std::map<std::string, File> files_;
};

}  // namespace polychron::onnx::detail
