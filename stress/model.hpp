// The contract as a sequential model (docs/contract.md): which answers a history may have.
#pragma once

#include <optional>
#include <string>

#include "stress/history.hpp"

namespace polychron::stress {

/// The first answer in `history` that the contract does not allow, or nullopt. The calls are
/// carried out one after the other, as they reached the context. Where the contract leaves it open
/// what happens (a deadline, a cancellation, a planned fault, the moment of an end), every
/// possibility is followed.
std::optional<std::string> check(const Program& program, const History& history);

}  // namespace polychron::stress
