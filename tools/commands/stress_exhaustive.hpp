// polychron stress --exhaustive: all schedules of all small programs.
#pragma once

#include <string>

#include "stress/small_scope.hpp"

namespace tool {

struct ExhaustiveOptions {
  polychron::stress::SmallScope scope;
  double seconds = 0;  ///< 0: all of it
  unsigned jobs = 1;
  bool json = false, force_progress = false;
  std::string trace = {};  ///< the file for a finding's trace, or empty
};

/// Searches, prints what it did, and throws AlreadyTold if something was found.
void search_exhaustively(const ExhaustiveOptions& options);

}  // namespace tool
