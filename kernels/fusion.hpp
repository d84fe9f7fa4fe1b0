// What may be fused: asked by the passes, answered by the implementations.
#pragma once

#include <span>

#include "kernels/problem.hpp"

namespace polychron::kernels {

/// True if the best implementation of operator `first` can apply `second` to its `result` before it
/// stores it. `operand` is the other operand of a binary `second`, else null.
bool can_follow(ops::OpId first, ops::OpId second, const Attributes& attributes, const Slot& result,
                const Slot* operand);

/// True if the unary operator `second` can be applied after those of `before`. oneDNN's generated
/// code keeps one set of parameters for each function (seen in 2.6.3): a second linear, clip or
/// leaky relu with other parameters than the first is computed with the first's.
bool can_join(std::span<const PostOp> before, ops::OpId second, const Attributes& attributes);

/// True if the best implementation computes the unary operator in one go, in any layout.
bool single_function(ops::OpId op, const Attributes& attributes);

/// The layout in which pictures are computed fastest on this processor.
Layout picture_layout() noexcept;

}  // namespace polychron::kernels
