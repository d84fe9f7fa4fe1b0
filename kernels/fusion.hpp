// What may be fused: asked by the passes, answered by the implementations.
#pragma once

#include "kernels/problem.hpp"

namespace polychron::kernels {

/// True if the best implementation of operator `first` can apply `second` to its `result` before it
/// stores it. `operand` is the other operand of a binary `second`, else null.
bool can_follow(ops::OpId first, ops::OpId second, const Attributes& attributes, const Slot& result,
                const Slot* operand);

/// True if the best implementation computes the unary operator in one go, in any layout.
bool single_function(ops::OpId op, const Attributes& attributes);

/// The layout in which pictures are computed fastest on this processor.
Layout picture_layout() noexcept;

}  // namespace polychron::kernels
