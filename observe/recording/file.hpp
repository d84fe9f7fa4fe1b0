// A recording as the bytes of a file. First come the magic and the version, then a head with the
// tables of names, then blocks to the end. codec.hpp encodes them; docs/tracing.md specifies the
// format.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "observe/recording/records.hpp"
#include "observe/recording/store.hpp"

namespace polychron::recording {

inline constexpr std::string_view magic = "POLYTRC\n";
inline constexpr std::uint64_t version = 5;

/// Tables of names, each ended by '\n' (see Names).
struct FileHead {
  std::uint64_t dropped = 0;  ///< number of records dropped for want of room
  Time taken = 0;             ///< time of this snapshot
  std::string_view messages, receivers, calls, operations, outcomes, operators;
};
struct FileBlock {
  std::uint64_t thread = 0;
  std::string_view bytes;
};

std::vector<std::byte> file_of(const Store::Contents& contents, Time taken);

struct File {
  FileHead head;
  std::vector<FileBlock> blocks;
};
/// The version of a file; nothing if it is no recording.
std::optional<std::uint64_t> version_of(std::span<const std::byte> bytes);
/// The contents of a file; nothing if it is none of this version, or damaged. Looks at `bytes`.
std::optional<File> read_file(std::span<const std::byte> bytes);

}  // namespace polychron::recording
