// Rows of a depthwise convolution's result, of one block of 16 channels: each pixel is a vector,
// and each tap of the window a vector of weights.
//
// Some pixels of one or two rows are computed at a time. Their sums stay in registers, and each of
// the picture's pixels is read once for all of them that see it. A sum begins with the bias and
// goes on tap by tap, row by row of the window, each product added without rounding it first; taps
// outside of the picture are left out. So it is the same wherever a pixel is among those that are
// computed together, and no weight meets padding.
#pragma once

#include "kernels/direct/wide.hpp"

#ifdef POLYCHRON_WIDE

#include <cstdint>

namespace polychron::kernels::direct {

/// Rows of results that are computed at once, and pixels of each, at most: more sums than that do
/// not fit into registers beside a filter of 3x3.
inline constexpr std::size_t most_depthwise_rows = 2;
inline constexpr std::size_t most_depthwise_pixels = 7;

/// Windows of 3 by 3 or 5 by 5 pixels, and their steps, 1 or 2.
struct DepthwiseWindow {
  std::size_t size, stride_y, stride_x;
};

/// Pixels of one or two rows of the result, wherever they lie, in groups of as many, one after the
/// other.
struct DepthwiseRows {
  const float* picture;  ///< where the first pixel's window begins, perhaps outside of the picture
  std::size_t picture_row;                   ///< floats from row to row
  std::ptrdiff_t first_row, last_row;        ///< the picture's, counted from there
  std::ptrdiff_t first_column, last_column;  ///< likewise
  const float* filter;                       ///< a vector for each tap
  const float* bias;                         ///< null if there is none
  float* result;
  const float* added;      ///< lies as the result does; null if there is none
  std::size_t result_row;  ///< floats from row to row
  std::size_t groups;
  std::uint32_t channels;  ///< a bit for each that there is: the others' results are zero
  float lowest, highest;   ///< bounds of results
};

/// Computes `count` rows, in groups of `pixels`.
void multiply_depthwise(const DepthwiseWindow& window, std::size_t count, std::size_t pixels,
                        const DepthwiseRows& rows);

}  // namespace polychron::kernels::direct

#endif
