// Rows of a depthwise convolution's result, for one block of channels. Pixels are vectors, and so
// are the weights of each tap of the window.
//
// Some pixels of one or two rows are computed at a time. Their sums stay in registers, and each
// pixel of the picture is read once for all sums that need it.
//
// A sum begins with the bias and adds tap by tap, row by row of the window, with fused
// multiplications. It skips taps outside of the picture. A sum therefore does not depend on the
// pixels computed beside it, and no weight is multiplied with padding.
#pragma once

#include <cstddef>

namespace polychron::kernels::direct {

/// The most rows, and pixels of each row, that are computed at once: their sums, and the weights
/// that they need, fit into the processor's registers.
struct DepthwiseTile {
  std::size_t rows, pixels;

  static const DepthwiseTile& get();
};

/// Windows of 3 by 3 or 5 by 5 pixels, with strides of 1 or 2.
struct DepthwiseWindow {
  std::size_t size, stride_y, stride_x;
};

/// Pixels of one or two rows of the result, anywhere in memory, in groups of equal size, one after
/// the other.
struct DepthwiseRows {
  const float* picture;     ///< where the first window begins; may be outside of the picture
  std::size_t picture_row;  ///< floats from row to row
  std::ptrdiff_t first_row, last_row;        ///< of the picture, counted from there
  std::ptrdiff_t first_column, last_column;  ///< of the picture, counted from there
  const float* filter;                       ///< a block for each tap
  const float* bias;                         ///< null if there is none
  float* result;
  const float* added;      ///< laid out like the result; null if there is none
  std::size_t result_row;  ///< floats from row to row
  std::size_t groups;
  std::size_t channels;   ///< that exist, of a block or more; results of others are zero
  float lowest, highest;  ///< bounds of results
};

/// Needs has_fused_vectors(). Computes `count` rows, in groups of `pixels`.
void multiply_depthwise(const DepthwiseWindow& window, std::size_t count, std::size_t pixels,
                        const DepthwiseRows& rows);

}  // namespace polychron::kernels::direct
