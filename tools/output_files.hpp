// Output files that appear whole or not at all.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

#include "base/new_file.hpp"

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
  struct File {
    std::filesystem::path place;  ///< as it was given
    polychron::NewFile file;
  };
  std::vector<File> files_;
};

/// A directory that files are written to: made if it is not there, and removed again if nothing was
/// put into it.
class OutputDirectory {
 public:
  explicit OutputDirectory(const std::filesystem::path& path);
  ~OutputDirectory();
  OutputDirectory(const OutputDirectory&) = delete;
  OutputDirectory& operator=(const OutputDirectory&) = delete;

  /// As it was given, without slashes at its end.
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  bool is_new_ = false;
};

/// Make sure early, before long work, that `path` can be written, that files can be made in
/// `directory` or that it can be made itself; make nothing. Throw UserError.
void require_output_file(const std::filesystem::path& path);
void require_output_directory(const std::filesystem::path& directory);

}  // namespace tool
