// The tensors of a batch: joined along dimension 0, and split again.
#pragma once

#include "models/batcher.hpp"

namespace polychron::server {

/// One request for all members, of `rows` rows: the members', and zeros behind them.
/// `label` names no member: all of them may read it.
EngineRequest joined(const Batch& batch, std::uint32_t rows, std::string label);

/// Settles each member with its part of the outcome; its rows are not copied. A refusal goes to
/// all.
void settle(Batch&& batch, EngineOutcome&& outcome, std::uint32_t rows);

}  // namespace polychron::server
