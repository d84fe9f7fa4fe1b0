// Things that may be left when a world has come to rest (docs/contract.md: load, lifetimes).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "polychron/context.hpp"

namespace polychron::stress {

/// The stage that the world has reached.
enum class Phase : std::uint8_t {
  lent,       ///< nothing is pending except ends of leases; scopes may be open
  answered,   ///< all leases have come back, and all scopes are closed
  destroyed,  ///< every tensor and graph was destroyed
  ended,      ///< the context has ended as well, and no handle is left
};

struct QuiescentState {
  Phase phase = Phase::answered;
  ContextStats stats;
  bool lost = false;  ///< before this; the counts of objects mean nothing then
  /// Tensors and graphs: how many began, and how many ends the context heard of.
  std::size_t begun = 0, gone = 0;
  std::uint64_t storage = 0;       ///< bytes that the backend has for tensors
  std::uint64_t peak_storage = 0;  ///< the most bytes of its own that it had
  std::uint64_t planned = 0;       ///< bytes of plans and of their arenas
  /// Everything that takes bytes is known here. False with constants or refused graphs.
  bool knows_bytes = false;
  std::uint64_t places = 0;  ///< permits taken of all classes, except those of open scopes
  std::uint64_t scopes = 0;  ///< permits of error scopes
  bool waited_for = false;   ///< somebody waits for admission
  std::uint64_t load = 0;    ///< weight of the operations that lanes were sent and have not done
  std::size_t brought = 0;   ///< loans, leases and bytes of calls that somebody still holds
  unsigned losses = 0;       ///< how often it was told that the context is lost
  std::vector<std::string> actors = {};  ///< those that have not ended
};

/// The first thing that should not be there, or nullopt.
std::optional<std::string> check(const QuiescentState& state);

}  // namespace polychron::stress
