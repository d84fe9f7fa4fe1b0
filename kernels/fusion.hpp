// What may be fused: asked by the passes, answered by the implementations.
#pragma once

#include "kernels/problem.hpp"

namespace polychron::kernels {

/// True if the best implementation of `problem` can also apply `op` to the result before it stores
/// it. `operand` is the other operand of a binary `op`, else null.
bool can_follow(const Problem& problem, ops::OpId op, const Attributes& attributes,
                const Slot* operand);

/// True if the best implementation of the element-wise operator computes in blocked layouts too.
bool computes_in_blocks(ops::OpId op, const Attributes& attributes);

/// True if the operands of the element-wise operator must not change places.
bool is_ordered(ops::OpId op) noexcept;

/// The layout in which pictures are computed fastest on this processor.
Layout picture_layout() noexcept;

}  // namespace polychron::kernels
