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
  answered,   ///< nothing is pending, but for the ends of leases
  destroyed,  ///< every tensor and graph was destroyed
  ended,      ///< the context as well, and nobody has a handle
};

struct Remains {
  Rest rest = Rest::answered;
  ContextStats stats;
  bool lost = false;  ///< before; then the counts of objects say nothing
  /// Tensors and graphs: how many began, and of how many the context heard that they have ended.
  std::size_t begun = 0, gone = 0;
  std::uint64_t storage = 0;             ///< bytes that the backend has for tensors
  std::uint64_t peak_storage = 0;        ///< the most that it had of its own
  std::vector<std::string> actors = {};  ///< that have not ended
};

/// The first thing that should not be there, or nullopt.
std::optional<std::string> check(const Remains& remains);

}  // namespace polychron::stress
