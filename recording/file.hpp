// A recording as the bytes of a file: the magic and the version, a head with the tables of names,
// then pieces to the end, all encoded by codec.hpp. docs/tracing.md specifies the format.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "recording/records.hpp"
#include "recording/store.hpp"

namespace polychron::recording {

inline constexpr std::string_view magic = "POLYTRC\n";
inline constexpr std::uint64_t version = 2;

/// Tables of names, each ended by '\n' (see Names).
struct FileHead {
  std::uint64_t dropped = 0;  ///< number of records dropped for want of room
  Time taken = 0;             ///< time of this snapshot
  std::string_view messages, receivers, calls, operations, outcomes, operators;
};
struct FilePiece {
  std::uint64_t thread = 0;
  std::string_view bytes;
};

std::vector<std::byte> file_of(const Store::Contents& contents, Time taken);

struct File {
  FileHead head;
  std::vector<FilePiece> pieces;
};
/// The content of a file, which refers to `bytes`; nullopt if it has another version or is damaged.
std::optional<File> read_file(std::span<const std::byte> bytes);

}  // namespace polychron::recording
