// Errors of a recording, as what a device must say for them to come up again.
#pragma once

#include "observe/trace/joined_trace.hpp"
#include "polychron/error.hpp"

namespace polychron::replay {

/// The part of an operation's error that the backend, the compiler or the budget said: without what
/// the lane added.
Error inner_error(const trace::ErrorChain& chain);

}  // namespace polychron::replay
