// A joined trace as Chromium's trace events (the "Trace Event Format" in JSON), for Perfetto.
#pragma once

#include <string>

#include "observe/trace/joined_trace.hpp"

namespace polychron::trace {

/// A process for each context and one for the callers. A thread for each actor, a slice for what it
/// did, a flow for each message, a counter. The metadata tell `title`. Times are in microseconds; a
/// step of a driven world takes one.
std::string chrome_json(const JoinedTrace& joined, const std::string& title);

}  // namespace polychron::trace
