// The order of actions in a recording of many threads: by its logical times.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "observe/replay/script.hpp"

namespace polychron::replay {

using ContextAndActor = std::pair<std::uint64_t, std::uint64_t>;

/// The number that tells a message from others of its kind to the same actor; see ticket_of().
msg::Ticket ticket_of(const recording::Sent& sent, const std::map<ContextAndActor, Role>& roles);

/// `made`: the calls, with the numbers and the logical times that the recording has of them.
std::vector<Turn> order_of(const trace::JoinedTrace& joined,
                           const std::map<ContextAndActor, Role>& roles,
                           const std::vector<Call>& made);

}  // namespace polychron::replay
