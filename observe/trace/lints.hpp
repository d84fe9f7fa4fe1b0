// Things that look wrong in a joined trace although nothing failed.
#pragma once

#include <vector>

#include "observe/trace/joined_trace.hpp"

namespace polychron::trace {

/// Finds a queue that only grows, a tensor that is written and never read, an actor that keeps a
/// worker from others. Finds operations that wait longer than they take, reads of errored tensors,
/// and tensors alive at the end. There is one lint of each kind: it counts them and points to the
/// worst.
std::vector<Lint> lints_of(const JoinedTrace& joined);

}  // namespace polychron::trace
