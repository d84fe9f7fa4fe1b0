// The rules of fusion: passes ask, implementations answer.
#pragma once

#include <span>

#include "kernels/problem.hpp"

namespace polychron::kernels {

/// True if the best implementation of `problem` can also apply `op` to the result before it stores
/// it. `operands` are the operands of `op` after the first.
bool can_follow(const Problem& problem, ops::OpId op, const Attributes& attributes,
                std::span<const Slot> operands);

/// The layout in which this processor computes pictures fastest.
Layout picture_layout();

}  // namespace polychron::kernels
