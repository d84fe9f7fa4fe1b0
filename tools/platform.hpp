// What the tool needs from the operating system, POSIX and Linux: nothing else in tools/ includes
// their headers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace tool {

/// First of all. Takes the places of standard streams that are closed, or the first files that are
/// opened would get what is printed: reading and writing them fails, as it does when they are
/// closed. And a file that grows beyond the limit (ulimit -f) is one that cannot be written, not
/// the end.
void take_precautions();

/// Standard error is a terminal.
bool stderr_is_terminal();

/// Standard output is a terminal.
bool stdout_is_terminal();

/// From now on `file` is removed when the program is ended by SIGINT, SIGTERM or SIGHUP; until
/// keep_when_interrupted().
void remove_when_interrupted(const std::filesystem::path& file);
void keep_when_interrupted(const std::filesystem::path& file);

/// It is the file that standard output or standard error goes to.
bool is_standard_stream(const std::filesystem::path& file);

/// Why nothing can be made in `directory`; empty if it can.
std::string reason_not_writable(const std::filesystem::path& directory);

/// The most memory that this process has had in use.
std::uint64_t peak_resident_bytes();

}  // namespace tool
