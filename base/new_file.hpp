// Files that appear whole or not at all.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <utility>

namespace polychron {

/// A file next to its target under a unique name, until it is moved there. One thread uses it.
/// Several may write the same target at once: the last move wins.
class NewFile {
 public:
  /// Creates it, empty. If the target is a symbolic link, it will replace the file that the link
  /// leads to. Throws operation_error, also if the target is a directory, a device or a pipe.
  explicit NewFile(const std::filesystem::path& place);
  /// Removes it, unless it was moved to its target.
  ~NewFile();
  NewFile(NewFile&& other) noexcept
      : place_(std::move(other.place_)),
        path_(std::move(other.path_)),
        descriptor_(std::exchange(other.descriptor_, -1)),
        there_(std::exchange(other.there_, false)) {}
  NewFile& operator=(NewFile&&) = delete;

  /// Its current path.
  const std::string& path() const noexcept { return path_; }
  /// Appends bytes. Throws operation_error.
  void write(std::span<const std::byte> bytes);
  /// Closes it; no write may follow. Throws operation_error.
  void close();
  /// Closes it and moves it to its target. Throws operation_error.
  void put_in_place();

 private:
  /// Strings, as std::filesystem::path of libstdc++ 12 breaks if an allocation fails while it
  /// changes.
  std::string place_, path_;
  int descriptor_ = -1;
  bool there_ = false;  ///< not yet moved to its target
};

}  // namespace polychron
