// What a context counts, against what was called: see ContextStats.
#pragma once

#include <optional>
#include <string>

#include "polychron/context.hpp"
#include "stress/history.hpp"

namespace polychron::stress {

/// The first number in `stats` that cannot be, or nullopt. Of a context that lives, at rest, on
/// which nothing but `history` was called.
std::optional<std::string> check_accounts(const Program& program, const History& history,
                                          const ContextStats& stats);

}  // namespace polychron::stress
