// Backends with a defect: each breaks one promise, which the suite has to name.
#pragma once

#include <string>

#include "tests/backends/candidates.hpp"

namespace polychron::testing {

/// A variable of the environment. It names the promise that the only candidate breaks.
inline constexpr char planted_variable[] = "POLYCHRON_PLANTED";

/// The cpu's backend without `promise`, or as it is if there is no such promise.
Candidate candidate_without(const std::string& promise);

}  // namespace polychron::testing
