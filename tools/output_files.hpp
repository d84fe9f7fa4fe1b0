// Output files that appear whole or not at all.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <utility>
#include <vector>

namespace tool {

/// Collects files under temporary names beside their places; commit() puts them all there. Without
/// commit() nothing is left. Used by one thread.
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

/// Makes sure early, before long work, that files can be made in `directory`, or that it can be
/// made itself; makes nothing. Throws UserError.
void require_output_directory(const std::filesystem::path& directory);

}  // namespace tool
