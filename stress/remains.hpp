// What may be left when a world has come to rest (docs/contract.md: load, lifetimes).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "polychron/context.hpp"

namespace polychron::stress {

/// How far it had come.
enum class Rest : std::uint8_t {
  lent,       ///< nothing is pending, except the ends of leases; scopes may be open
  answered,   ///< all leases have come back, and all scopes are closed
  destroyed,  ///< every tensor and graph was destroyed
  ended,      ///< the context as well, and nobody has a handle
};

struct Remains {
  Rest rest = Rest::answered;
  ContextStats stats;
  bool lost = false;  ///< before; then the counts of objects say nothing
  /// Tensors and graphs: how many began, and of how many the context heard that they have ended.
  std::size_t begun = 0, gone = 0;
  std::uint64_t storage = 0;       ///< bytes that the backend has for tensors
  std::uint64_t peak_storage = 0;  ///< the most that it had of its own
  std::uint64_t planned = 0;       ///< bytes of plans and of their arenas
  /// Whether everything that takes bytes is known here: constants and refused graphs are not.
  bool knows_bytes = false;
  std::uint64_t places = 0;  ///< taken at all doors, except those of open scopes
  std::uint64_t scopes = 0;  ///< places that error scopes have
  bool waited_for = false;   ///< a caller waits for admission
  std::uint64_t load = 0;    ///< weight of operations that lanes were sent and have not done
  std::size_t brought = 0;   ///< loans, leases and bytes of calls that somebody still has
  unsigned losses = 0;       ///< how often it was told that the context is lost
  std::vector<std::string> actors = {};  ///< that have not ended
};

/// The first thing that should not be there, or nullopt.
std::optional<std::string> check(const Remains& remains);

}  // namespace polychron::stress
