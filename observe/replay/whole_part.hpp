// The part of a recording that can be run again. A recording may begin and end at any moment, and
// lacks what went on then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>

#include "messages/ids.hpp"
#include "observe/trace/joined_trace.hpp"

namespace polychron::replay {

/// The contexts that were recorded from their beginning on, without a gap. Of each of these, the
/// events before the first handling that went on when the recording ended: they lack no event that
/// led to one of them.
struct WholePart {
  using Operation = std::pair<std::uint64_t, msg::Ticket>;  ///< of a context

  trace::JoinedTrace joined;    ///< only its records, and their matches
  std::set<Operation> carried;  ///< out, in a handling that is whole
  std::set<Operation> over;     ///< so nothing else can come of them
  std::size_t left_out = 0;     ///< contexts
};

WholePart whole_part(trace::JoinedTrace recorded);

}  // namespace polychron::replay
