// Output files that appear whole or not at all.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <utility>
#include <vector>

namespace tool {

/// Collects files under temporary names beside their places; commit() puts them all there. Without
/// commit() nothing is left, not even if the program is interrupted. Used by one thread.
class OutputFiles {
 public:
  OutputFiles() = default;
  ~OutputFiles();
  OutputFiles(const OutputFiles&) = delete;
  OutputFiles& operator=(const OutputFiles&) = delete;

  /// Writes `parts`, one after the other. Throws UserError when that is not possible.
  void add(const std::filesystem::path& path, std::vector<std::span<const std::byte>> parts);
  /// Renames what was added. Throws UserError.
  void commit();

 private:
  std::vector<std::pair<std::filesystem::path, std::filesystem::path>> files_;  ///< from, to
};

/// Make sure early, before long work, that `path` can be written, that files can be made in
/// `directory` or that it can be made itself; make nothing. Throw UserError.
void require_output_file(const std::filesystem::path& path);
void require_output_directory(const std::filesystem::path& directory);

}  // namespace tool
