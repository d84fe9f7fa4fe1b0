// layerNormalization and rmsNormalization over a row.
#pragma once

#include <cstddef>

namespace polychron::kernels::direct {

struct NormalizedRows {
  std::size_t rows, count;  ///< `count` floats of a row, which lie side by side
  float epsilon;
  const float* scales = nullptr;  ///< for each place in a row, or null
  const float* biases = nullptr;  ///< the same
  bool centred = true;            ///< false: the mean counts as 0
};

/// Computes (x - mean) / sqrt(variance + epsilon) * scale + bias of each row. `out` may be `in`.
/// Returns the number of rows that are done. The one behind them, if there is one, has numbers that
/// are too large for sums of float32, or NaN.
std::size_t normalize_rows(const NormalizedRows& rows, const float* in, float* out);

}  // namespace polychron::kernels::direct
