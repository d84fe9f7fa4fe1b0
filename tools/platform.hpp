// What the tool needs from the operating system, POSIX and Linux: nothing else in tools/ includes
// their headers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace tool {

/// Standard error is a terminal.
bool stderr_is_terminal();

/// Standard output is a terminal.
bool stdout_is_terminal();

/// From now on `file` is removed when the program is ended by SIGINT, SIGTERM or SIGHUP; until
/// keep_when_interrupted().
void remove_when_interrupted(const std::filesystem::path& file);
void keep_when_interrupted(const std::filesystem::path& file);

/// Why nothing can be made in `directory`; empty if it can.
std::string reason_not_writable(const std::filesystem::path& directory);

/// Distinguishes the temporary files of programs that run at the same time.
std::int64_t process_id();

/// The most memory that this process has had in use.
std::uint64_t peak_resident_bytes();

}  // namespace tool
