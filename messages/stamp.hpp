// The ticket that ties the two timelines together, for any number of lanes.
#pragma once

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "messages/ids.hpp"

namespace polychron::msg {

/// A place on a lane: the turn-th operation of that lane's device actor.
struct LaneTurn {
  std::uint32_t lane = 0;
  Ticket turn = 0;
  friend bool operator==(const LaneTurn&, const LaneTurn&) = default;
};

/// What an operation touches: a tensor's or graph's slot. Compared, never opened.
using Object = const void*;

/// What an operation waits for on another lane: whatever that lane does to `object` up to its turn.
struct Wait {
  LaneTurn at;
  Object object = nullptr;
  friend bool operator==(const Wait&, const Wait&) = default;
};

/// What the context gives to every operation with a device side. `ticket` is its place on the
/// context's content timeline, for people; `at` is its lane and its turn there, and `waits` are
/// what must be done before on other lanes, at most one a lane and object. Each turn of a lane
/// reaches that lane's device actor exactly once. Waits point to earlier tickets only, so lanes
/// cannot wait in a circle.
struct Stamp {
  Ticket ticket = 0;
  LaneTurn at;
  boost::container::small_vector<Wait, 2> waits;
  std::uint64_t weight = 1;  ///< how much of its lane it takes, as far as the choice of lanes goes
};

/// Where an operation went, and what it waited for there, done or not. Both depend on how far the
/// lanes had come.
struct Placed {
  std::uint32_t lane = 0;
  std::vector<LaneTurn> waits;
};
/// Of a replay: as an operation was placed before; null if that is not known.
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
