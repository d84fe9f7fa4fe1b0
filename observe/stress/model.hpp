// The contract as a sequential model (docs/contract.md): the answers that a history may have.
#pragma once

#include <optional>
#include <string>

#include "observe/stress/history.hpp"

namespace polychron::stress {

/// The first answer in `history` that the contract does not allow, or nullopt. The model carries
/// the calls out one after the other, in the order in which they reached the context. Some outcomes
/// are open in the contract: those of deadlines, cancellations, planned faults and the moment of an
/// end. The model follows every possibility.
std::optional<std::string> check(const Program& program, const History& history);

}  // namespace polychron::stress
