// Of how many parts a step is, which threads share: by its work alone, never by the number of
// threads.
#pragma once

#include <algorithm>
#include <cstddef>

namespace polychron::kernels {

/// Below this, in ns on one thread, a part costs more to hand over than to compute.
inline constexpr double least_work = 4000;

/// Parts of what is large, as a rule: they serve one to four threads evenly.
inline constexpr std::size_t usual_parts = 4;

/// What a core does in a nanosecond, about.
inline constexpr double operations_per_ns = 150;
inline constexpr double bytes_per_ns = 10;

/// How many parts `work`, in ns on one thread, is best shared in, which has so many units that stay
/// whole: two of what is small, as each costs some 2 us beside its work, and narrower ones take
/// longer; else the usual number, unless there are a few units more, a part each.
inline std::size_t parts_of(double work, std::size_t units, double least = least_work) {
  constexpr double small = 60;  // times the least
  if (work < 2 * least) return 1;
  if (work < small * least) return std::min(units, std::size_t{2});
  return units > usual_parts && units < 2 * usual_parts ? units : std::min(units, usual_parts);
}

}  // namespace polychron::kernels
