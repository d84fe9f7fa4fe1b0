// The results of the calls in a recording, so that two recordings can be compared. They go by
// tickets, which are the same whenever the same is called in the same order.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "observe/replay/whole_part.hpp"
#include "observe/trace/records.hpp"

namespace polychron::replay {

/// An operation, in words.
struct TranscriptEntry {
  std::string what;            ///< "dispatch 'conv' of graph 2, reads 1 2, writes 3"
  bool carried_out = false;    ///< a lane came to it, and was done with that
  bool over = false;           ///< nothing else can come of it
  bool rejected = false;       ///< its tensor was destroyed before it was answered
  std::set<std::string> told;  ///< what the lane told of it: errors, states
  std::string answer;          ///< to a read or a compute: "bytes" or an error
  std::uint64_t digest = 0;    ///< of these bytes; 0: not kept
};

/// Of each context, in the order of their names' numbers: its operations by their tickets.
using Transcript = std::vector<std::map<std::uint64_t, TranscriptEntry>>;
Transcript transcript_of(const trace::Records& records);
/// With what the recording has no end of.
Transcript transcript_of(const WholePart& part);

/// Differences, a sentence each. An operation that the recording did not see carried out has to be
/// the same, and no more. More may come of one than the recording says, unless that was `over`.
std::vector<std::string> differences(const Transcript& recorded, const Transcript& replayed);

}  // namespace polychron::replay
