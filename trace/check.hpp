// What must hold of every run, looked for in a recording of one.
#pragma once

#include <string>
#include <vector>

#include "trace/joined_trace.hpp"

namespace polychron::trace {

struct Verdict {
  std::vector<std::string> broken;  ///< a sentence each
  std::size_t checked = 0;          ///< facts that were looked at
};

/// An actor handles one message at a time, each once; a lane's turns come once, its
/// operations within its handlings; a ticket is carried out once; operations that share a tensor,
/// one of them writing, in the order of their tickets; nothing touches a tensor after its release;
/// what was sent is handled, unless its receiver ended or the recording did. Of a recording that
/// had to drop records, or left a context out at times, only what these cannot have made is told.
Verdict check(const JoinedTrace& joined);

}  // namespace polychron::trace
