// The epilogue of a convolution or product in our own loops: the operations on each sum before it
// is stored.
#pragma once

#include <limits>
#include <optional>

#include "kernels/problem.hpp"

namespace polychron::kernels {

/// An input of 0 is absent. A bound that is NaN is absent. NaN in the result stays NaN.
struct Epilogue {
  std::size_t bias = 0;   ///< the input with one number for each channel or column
  std::size_t added = 0;  ///< the input of the result's shape and layout
  float lowest = -std::numeric_limits<float>::infinity();
  float highest = std::numeric_limits<float>::infinity();
  bool gelu = false;  ///< replaces the bounds
};

/// A clamp's bound as a float; `otherwise` if it is absent.
float bound_of(const std::optional<Number>& number, float otherwise);

/// The epilogue of a conv2d: its bias and its post-operations. These are an `add` of the result's
/// shape, then a `relu` or a `clamp`; each is optional. nullopt if there are other post-operations.
std::optional<Epilogue> epilogue_of(const Problem& problem);

/// The epilogue of a gemm or matmul: the gemm's third operand and the post-operations. It adds a
/// vector, a matrix of the result's shape, or both. One `relu`, `clamp` or `gelu` may follow.
/// nullopt if there are other post-operations.
std::optional<Epilogue> product_epilogue_of(const Problem& problem);

}  // namespace polychron::kernels
