// The rules that hold for every run, checked in a recording of one.
#pragma once

#include <string>
#include <vector>

#include "observe/trace/joined_trace.hpp"

namespace polychron::trace {

struct Verdict {
  std::vector<std::string> broken;  ///< a sentence each
  std::size_t checked = 0;          ///< facts that were looked at
};

/// The rules:
/// - An actor handles one message at a time, each once.
/// - A lane's turns come once, its operations within its handlings.
/// - A ticket is carried out once. Operations that share a tensor, one of them writing, are carried
///   out in the order of their tickets.
/// - Nothing touches a tensor after its release.
/// - A message that was sent is handled, unless its receiver ended or the recording did.
/// A recording may have dropped records, or left a context out at times. Then only faults are told
/// that these gaps cannot have made.
Verdict check(const JoinedTrace& joined);

}  // namespace polychron::trace
