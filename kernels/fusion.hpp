// What may be fused: asked by the passes, answered by the implementations.
#pragma once

#include <span>

#include "kernels/problem.hpp"

namespace polychron::kernels {

/// True if the best implementation of `problem` can also apply `op` to the result before it stores
/// it. `operands` are the operator's but the first.
bool can_follow(const Problem& problem, ops::OpId op, const Attributes& attributes,
                std::span<const Slot> operands);

/// The layout in which pictures are computed fastest on this processor.
Layout picture_layout() noexcept;

}  // namespace polychron::kernels
