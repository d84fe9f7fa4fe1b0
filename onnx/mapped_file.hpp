// Files whose bytes are used in place: mapped read-only, and the same for as long as they are used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>

#include "polychron/buffer.hpp"

namespace polychron::onnx::detail {

/// Changes when a file changes.
struct FileState {
  std::uint64_t size = 0;
  std::int64_t seconds = 0, nanoseconds = 0;  ///< of its last modification
  bool operator==(const FileState&) const = default;
};

/// Empty if the system does not tell; errno then says why.
std::optional<FileState> state_of(const std::filesystem::path& path);

/// A whole file, mapped read-only. Processes that map it share its pages. A lease (fcntl(2),
/// F_SETLEASE) makes the system hold back each program that opens the file for writing or truncates
/// it. A thread of this process finds such a lease within half a second. It copies the file, puts
/// the copy where the mapping was, and gives the lease back. So readers meet the old bytes and no
/// SIGBUS. A replaced file needs no care: the mapping is of the old one. Thread-safe.
class MappedFile {
 public:
  /// Below this, reading takes as little memory and needs no descriptor.
  static constexpr std::uint64_t least_bytes = 1U << 20;
  /// Each mapped file needs a descriptor, and some models have a file for each tensor.
  static constexpr std::size_t most_files = 64;

  /// Null if its bytes have to be copied: it is not on a local file system, is open for writing,
  /// belongs to another user, is not in the state `expected`, or is too small or one too many.
  static std::shared_ptr<const MappedFile> map(const std::filesystem::path& path,
                                               const FileState& expected);
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  /// The file's bytes as they were when it was mapped.
  std::span<const std::byte> bytes() const noexcept { return {data_, size_}; }
  /// False in a forked child, which shares no lease of its parent's: map the file again.
  bool is_ours() const;
  /// Reads these bytes of it now. False if that fails.
  bool populate(std::span<const std::byte> bytes) const noexcept;
  /// Tells that nobody uses these bytes now. They count no longer as memory of this process, and
  /// come back if they are used again.
  void release(std::span<const std::byte> bytes) const noexcept;

 private:
  friend class MappedFiles;
  MappedFile() = default;
  /// With the lock of all mapped files. True if others wait to write, and the copy is in place.
  bool copied_for_writers() noexcept;
  void give_back_lease() noexcept;

  int descriptor_ = -1;  ///< holds the lease; -1 once the bytes are a copy, and in a forked child
  std::size_t size_ = 0;
  std::byte* data_ = nullptr;
  /// Room for the copy. It takes no memory until then, and a copy cannot lack it.
  std::byte* room_ = nullptr;
};

/// Those bytes of the mapped file, which are in memory. Null if `file` is, or if they cannot be
/// read. They are used as constants, which nobody writes.
std::shared_ptr<const Buffer> bytes_of(std::shared_ptr<const MappedFile> file, std::uint64_t offset,
                                       std::uint64_t length);

}  // namespace polychron::onnx::detail
