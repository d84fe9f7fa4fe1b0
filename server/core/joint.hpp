// The tensors of a batch: joined along dimension 0, and split again.
#pragma once

#include "core/batcher.hpp"

namespace polychron::server {

/// One request for all members, of `rows` rows: the members', and zeros behind them.
EngineRequest joined(const Batch& batch, std::uint32_t rows);

/// Settles each member with its part of the outcome; its rows are not copied. A refusal goes to
/// all.
void settle(Batch&& batch, EngineOutcome&& outcome, std::uint32_t rows);

}  // namespace polychron::server
