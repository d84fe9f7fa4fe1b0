// An exact convolution of 8-bit integers that is one step (op_integer_convolution), and its
// operands.
#pragma once

#include <optional>

#include "kernels/problem.hpp"

namespace polychron::kernels {

/// The sums are int32. As float32 they may get a factor, a summand and bounds, and may then be
/// quantized again: all of these are post-operations.
struct IntegerConvolution {
  /// A float32 input with one number for each filter, or one for all.
  struct ForFilters {
    std::size_t input = 0;  ///< 0: there is none
    bool one = true;
  };

  std::size_t images, groups;
  std::size_t channels, filters;  ///< of a group
  bool is_signed;                 ///< the picture's elements
  DataType result;                ///< int32, float32, int8 or uint8
  float factor = 1;               ///< if it is known
  float lowest, highest;
  ForFilters factors = {}, summands = {}, scales = {};
  std::size_t zeros = 0;  ///< the input with the result's zero points, as many as scales
};

/// Reads a problem of op_integer_convolution. Its inputs: a picture of int8 or uint8, batch first;
/// a constant filter of int32, its weights minus their zero points; the picture's zero point and an
/// int32 bias, which may be absent. Returns nullopt if no kernel takes it.
std::optional<IntegerConvolution> integer_convolution(const Problem& problem);

}  // namespace polychron::kernels
