// Tells which of the planted defects is switched on. See defects.cmake.
#pragma once

#include <cstddef>

namespace polychron::planted {

/// 0: none. Read by the actors, set by the test between its runs.
inline std::size_t defect = 0;
/// The names of the defects, from 1 on, and nullptr after the last.
extern const char* const names[];
/// Markers that do not fit the defects, and nullptr after the last.
extern const char* const misses[];

}  // namespace polychron::planted
