// Operations that are waiting or running, for Context::pending() and ContextStats::running.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace polychron {

/// An operation that has reached its device and is not done.
struct PendingOperation {
  std::string operation;     ///< "dispatch", "read", ...
  std::string label;         ///< of the operation, or empty
  std::string object;        ///< the tensor or graph concerned
  std::uint64_t ticket = 0;  ///< its position on the context's timeline
  std::uint32_t lane = 0;    ///< from 0, below ContextOptions::lanes
  std::string waits_for;  ///< "its turn: ticket 7 has not arrived", "the lease of tensor 'x'", ...
  std::chrono::steady_clock::time_point since;  ///< when it arrived at the device
};

/// The operation that a lane is running now.
struct RunningOperation {
  std::string operation;     ///< "dispatch", "read", ...
  std::uint64_t ticket = 0;  ///< its position on the context's timeline
  std::uint32_t lane = 0;    ///< from 0, below ContextOptions::lanes
};

}  // namespace polychron
