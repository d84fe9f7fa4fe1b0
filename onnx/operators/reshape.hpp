// Helpers of the operators that change shapes.
#pragma once

#include "onnx/node.hpp"

namespace polychron::onnx::detail {

/// Sets the output to input 0 in another shape. A literal is not copied.
void reshape_to(Node& node, const Shape& shape);

/// Sets the output to a tensor whose elements all have the value of `scalar`.
void set_filled(Node& node, const Literal& scalar, const Shape& shape);

/// Dimensions that a model calculated. Throws if one is negative or too large, or there are too
/// many.
Shape to_shape(const std::vector<std::int64_t>& dimensions);

}  // namespace polychron::onnx::detail
