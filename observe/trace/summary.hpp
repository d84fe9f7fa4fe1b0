// A joined trace in words, for those who read and those who grep.
#pragma once

#include <string>

#include "observe/trace/joined_trace.hpp"

namespace polychron::trace {

/// Sections with a headline each, of some lines. They tell what took the time, the longest waits
/// with their reasons, the slowest ticket's whole chain, errors from where they began, and lints.
std::string summary(const JoinedTrace& joined);

/// An event and everything that it follows from, back to a call: a line each, the call first.
std::string chain_of(const JoinedTrace& joined, Index event);

}  // namespace polychron::trace
