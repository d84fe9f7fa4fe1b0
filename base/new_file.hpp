// Files that appear whole or not at all.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <utility>

namespace polychron {

/// A file beside its place, under a name that nothing else has, until it is put there. Used by one
/// thread; any number may write to one place at once, and the last that puts its file there stays.
class NewFile {
 public:
  /// Makes it, empty. Where a symbolic link is in its place, it will replace what that leads to.
  /// Throws operation_error, also if a directory, a device or a pipe is there.
  explicit NewFile(const std::filesystem::path& place);
  /// Removes it, unless it was put in its place.
  ~NewFile();
  NewFile(NewFile&& other) noexcept
      : place_(std::move(other.place_)),
        path_(std::move(other.path_)),
        descriptor_(std::exchange(other.descriptor_, -1)),
        there_(std::exchange(other.there_, false)) {}
  NewFile& operator=(NewFile&&) = delete;

  /// Where it is now.
  const std::string& path() const noexcept { return path_; }
  /// Adds to it. Throws operation_error.
  void write(std::span<const std::byte> bytes);
  /// Nothing is written after this. Throws operation_error.
  void close();
  /// Closes it and puts it in its place. Throws operation_error.
  void put_in_place();

 private:
  /// As text: a path of libstdc++ 12 does not survive that it finds no memory while it is changed.
  std::string place_, path_;
  int descriptor_ = -1;
  bool there_ = false;  ///< it has not been put in its place
};

}  // namespace polychron
