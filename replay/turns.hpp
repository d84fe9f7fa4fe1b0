// Who did something after whom, in a recording of many threads.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "replay/script.hpp"

namespace polychron::replay {

using ContextAndActor = std::pair<std::uint64_t, std::uint64_t>;
using ContextAndTime = std::pair<std::uint64_t, std::int64_t>;

/// What replays know a message by, among those of its kind to the same actor; see ticket_of().
msg::Ticket ticket_of(const trace::Records& records, const recording::Sent& sent,
                      const std::map<ContextAndActor, Role>& roles);

/// `matches`: trace::sent_of_handled(records). `calls`: the places in `made` of what was called.
std::vector<Turn> order_of(const trace::Records& records,
                           const std::vector<std::optional<std::size_t>>& matches,
                           const std::map<ContextAndActor, Role>& roles,
                           const std::map<ContextAndTime, std::size_t>& calls,
                           const std::vector<Call>& made);

}  // namespace polychron::replay
