// Errors of a recording, as what a device must say for them to come up again.
#pragma once

#include "polychron/error.hpp"
#include "trace/joined_trace.hpp"

namespace polychron::replay {

/// What the backend, the compiler or the budget said, of an error as it was told of an operation:
/// without what the lane added.
Error inner_error(const trace::ErrorChain& chain);

}  // namespace polychron::replay
