// The number of parts of a step, which the threads of a team share. It depends on the work alone,
// never on the number of threads.
#pragma once

#include <algorithm>
#include <cstddef>

namespace polychron::kernels {

/// In ns on one thread. Handing over a smaller part costs more than computing it.
inline constexpr double least_work = 4000;

/// The usual number of parts of a large step. They serve one to four threads evenly.
inline constexpr std::size_t usual_parts = 4;

/// Estimates of the work of one core in a nanosecond.
inline constexpr double operations_per_ns = 150;
inline constexpr double bytes_per_ns = 10;

/// The best number of parts for `work`, in ns on one thread, that has `units` indivisible units. A
/// small step has at most two parts: each part costs about 2 us beside its work, and narrow parts
/// are slower. A larger step has the usual number, or one part for each unit if there are few more
/// units.
inline std::size_t parts_of(double work, std::size_t units, double least = least_work) {
  constexpr double small = 60;  // times `least`
  if (work < 2 * least) return 1;
  if (work < small * least) return std::min(units, std::size_t{2});
  return units > usual_parts && units < 2 * usual_parts ? units : std::min(units, usual_parts);
}

}  // namespace polychron::kernels
