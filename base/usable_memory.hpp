// How much memory this process may use.
#pragma once

#include <cstdint>
#include <string>

namespace polychron {

/// In bytes: the memory of the machine, or the least limit of the control groups that the process
/// is in, of both versions. A group's limit holds for those below it. The highest number if nothing
/// says. `root`: of the file system with /proc and /sys; a test has one of its own.
std::uint64_t usable_memory(const std::string& root = "");

}  // namespace polychron
