// Tensor data outside of the model's message.
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

/// The folder of `path`; empty if it names nothing.
std::filesystem::path folder_of(const std::filesystem::path& path);

/// Holds the tensor data of one model while it is loaded, except data in the message: separately
/// parsed raw data, and ranges of the model's file and of files next to it. File names in a model
/// are not trusted: absolute paths, "..", symbolic links out of the model's folder, and all but
/// regular files are refused. Memory is bounded by the sizes of the files: repeated ranges are
/// shared, and overlapping ranges are refused once they add up to more than the file.
class ExternalData {
 public:
  /// `directory` may be empty: then every request is refused.
  explicit ExternalData(std::filesystem::path directory, RawData parsed = {}, RawRanges found = {})
      : directory_(std::move(directory)), parsed_(std::move(parsed)), found_(std::move(found)) {}

  /// The separately parsed raw data of `tensor`; nullptr if the message has the data.
  std::shared_ptr<const Buffer> take(const proto::TensorProto& tensor);
  /// Where the model's file has the raw data of `tensor`; nullptr if it was read.
  std::shared_ptr<const FileRange> found(const proto::TensorProto& tensor) const;

  /// The `length` bytes at `offset` of the file at `location`, elements of `alignment` bytes.
  /// Checks that they exist, but does not read them yet. Throws Error (bad_data).
  std::shared_ptr<const FileRange> range(const std::string& location, std::uint64_t offset,
                                         std::uint64_t length, std::size_t alignment);

 private:
  struct File {
    std::shared_ptr<const DataFile> file;
    std::uint64_t taken = 0;
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::shared_ptr<const FileRange>> ranges;
  };
  File& open(const std::string& location);

  std::filesystem::path directory_;
  RawData parsed_;
  RawRanges found_;
  std::map<std::string, File> files_;
};

}  // namespace polychron::onnx::detail
