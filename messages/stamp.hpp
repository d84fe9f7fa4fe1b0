// Stamps: they tie the content timeline to the lanes of the device timeline.
#pragma once

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "messages/ids.hpp"

namespace polychron::msg {

/// A position on a lane: the turn-th operation of that lane's device actor.
struct LaneTurn {
  std::uint32_t lane = 0;
  Ticket turn = 0;
  friend bool operator==(const LaneTurn&, const LaneTurn&) = default;
};

/// An object of a footprint: the slot of a tensor or graph. Only compared, never opened.
using Object = const void*;

/// A wait for another lane: for all its operations on `object` up to the turn.
struct Wait {
  LaneTurn at;
  Object object = nullptr;
  friend bool operator==(const Wait&, const Wait&) = default;
};

/// The context gives one to every operation with a device side. `ticket` is its position on the
/// content timeline, for people; `at` is its lane and turn. `waits` are the waits for other lanes,
/// at most one for each lane and object. Each turn of a lane reaches that lane's device actor
/// exactly once. Waits point only to earlier tickets, so lanes cannot wait in a circle.
struct Stamp {
  Ticket ticket = 0;
  LaneTurn at;
  boost::container::small_vector<Wait, 2> waits;
  std::uint64_t weight = 1;  ///< its load on the lane, for choosing lanes
};

/// The lane and the waits of an operation. Both depend on the progress of the lanes at that time.
struct Placed {
  std::uint32_t lane = 0;
  std::vector<LaneTurn> waits;
};
/// For a replay: the recorded placement of an operation; null if unknown.
using Placement = std::function<const Placed*(Ticket)>;

inline std::string describe(const Stamp& stamp) {
  auto text = "ticket " + std::to_string(stamp.ticket);
  if (stamp.at.lane != 0 || !stamp.waits.empty())
    text += " lane " + std::to_string(stamp.at.lane) + " turn " + std::to_string(stamp.at.turn);
  for (const auto& wait : stamp.waits)
    text += " after " + std::to_string(wait.at.lane) + ":" + std::to_string(wait.at.turn);
  return text;
}

}  // namespace polychron::msg
