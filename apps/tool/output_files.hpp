// Output files that appear whole or not at all.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

#include "base/new_file.hpp"

namespace tool {

/// Collects files under temporary names next to their targets; commit() renames them all. Without
/// commit() no file remains, even if the program is interrupted. Used by one thread.
class OutputFiles {
 public:
  OutputFiles() = default;
  ~OutputFiles();
  OutputFiles(const OutputFiles&) = delete;
  OutputFiles& operator=(const OutputFiles&) = delete;

  /// Writes `parts` in sequence. Throws UserError if it cannot.
  void add(const std::filesystem::path& path, std::vector<std::span<const std::byte>> parts);
  /// Renames the files to their targets. Throws UserError.
  void commit();

 private:
  struct File {
    std::filesystem::path place;  ///< as it was given
    polychron::NewFile file;
  };
  std::vector<File> files_;
};

/// An output directory: created if it is missing, and removed again if no file was put into it.
class OutputDirectory {
 public:
  explicit OutputDirectory(const std::filesystem::path& path);
  ~OutputDirectory();
  OutputDirectory(const OutputDirectory&) = delete;
  OutputDirectory& operator=(const OutputDirectory&) = delete;

  /// The given path, without trailing slashes.
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  bool is_new_ = false;
};

/// Check before long work that `path` can be written, or that `directory` or files in it can be
/// created. They create nothing. They throw UserError.
void require_output_file(const std::filesystem::path& path);
void require_output_directory(const std::filesystem::path& directory);

}  // namespace tool
