// What becomes of the sums of a convolution or product as they are stored, where loops of our own
// compute it.
#pragma once

#include <limits>
#include <optional>

#include "kernels/problem.hpp"

namespace polychron::kernels {

/// Of inputs 0 means that there is none. A bound that is NaN is none; NaN itself stays NaN.
struct Epilogue {
  std::size_t bias = 0;   ///< the input of a number for each channel, or column
  std::size_t added = 0;  ///< the input of a number for each of the result's, in its layout
  float lowest = -std::numeric_limits<float>::infinity();
  float highest = std::numeric_limits<float>::infinity();
  bool gelu = false;  ///< instead of bounds
};

/// A clamp's bound as a float.
float bound_of(const std::optional<Number>& number, float otherwise);

/// Of a conv2d's bias and post-operations: an `add` of the result's shape, then a `relu` or a
/// `clamp`; or one of them, or none. nullopt if there are others.
std::optional<Epilogue> epilogue_of(const Problem& problem);

/// Of a gemm's third operand and post-operations, or a matmul's: a vector or a matrix of the
/// result's shape to add, or both; then a `relu`, a `clamp` or a `gelu`. nullopt if there are
/// others.
std::optional<Epilogue> product_epilogue_of(const Problem& problem);

}  // namespace polychron::kernels
