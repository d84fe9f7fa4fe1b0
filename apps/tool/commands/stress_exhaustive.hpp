// polychron stress --exhaustive: all schedules of all small programs.
#pragma once

#include <string>

#include "observe/stress/small_scope.hpp"

namespace tool {

struct ExhaustiveOptions {
  polychron::stress::SmallScope scope;
  double seconds = 0;  ///< 0: no limit
  unsigned jobs = 1;
  bool json = false, force_progress = false;
  std::string trace = {};  ///< the file for a finding's trace, or empty
};

/// Searches, prints a report, and throws AlreadyTold if there is a finding.
void search_exhaustively(const ExhaustiveOptions& options);

}  // namespace tool
