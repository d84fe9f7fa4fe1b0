// How many cores this process may use.
#pragma once

#include <string>

namespace polychron {

/// The cores of the calling thread's affinity, which the threads that it makes inherit; or fewer,
/// if the processor quota of a control group above the process allows fewer. A quota of 1.5 cores
/// is two: one core could not use it up. At least 1. Without memory to look at the groups it is the
/// affinity's. `root`: of the file system with /proc and /sys; a test has one of its own.
int count_usable_cores(const std::string& root = "") noexcept;

}  // namespace polychron
