// Compares a context's counters (ContextStats) with the calls that were made.
#pragma once

#include <optional>
#include <string>

#include "observe/stress/history.hpp"
#include "polychron/context.hpp"

namespace polychron::stress {

/// The first number in `stats` that cannot be right, or nullopt. The context must live and be at
/// rest, and only the calls of `history` may have been made on it.
std::optional<std::string> check_counters(const Program& program, const History& history,
                                          const ContextStats& stats);

}  // namespace polychron::stress
