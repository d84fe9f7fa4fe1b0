// The tool's use of the operating system. Only this file's source includes POSIX and Linux headers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace tool {

/// Call it first. Opens closed standard streams, or else the first opened files would receive the
/// output; using these streams still fails, as if they were closed. Also makes a write beyond the
/// size limit (ulimit -f) an error instead of the end of the process.
void take_precautions();

/// True if standard error is a terminal.
bool stderr_is_terminal();

/// True if standard output is a terminal.
bool stdout_is_terminal();

/// Removes `file` if SIGINT, SIGTERM or SIGHUP ends the program, until keep_when_interrupted().
void remove_when_interrupted(const std::filesystem::path& file);
void keep_when_interrupted(const std::filesystem::path& file);

/// True if standard output or standard error goes to this file.
bool is_standard_stream(const std::filesystem::path& file);

/// The reason why no file can be created in `directory`; empty if it can.
std::string reason_not_writable(const std::filesystem::path& directory);

/// The peak resident memory of this process.
std::uint64_t peak_resident_bytes();

}  // namespace tool
