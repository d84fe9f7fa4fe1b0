// Rows of pictures in blocks of 16 channels, multiplied with a panel of a constant matrix: what
// convolutions in such layouts come down to.
#pragma once

#include <cstddef>

#include "kernels/direct/wide.hpp"

#ifdef POLYCHRON_WIDE

namespace polychron::kernels::direct {

/// Rows that are computed together: as many as vectors hold, with two columns' sums of each.
inline constexpr std::size_t most_rows = 14;
/// Blocks of 16 columns of a panel, at most.
inline constexpr std::size_t most_columns = 2;

/// What is multiplied, left and result aligned to 64 bytes. Element k of row r is
/// left[k / 16 * left_step + 16 * r + k % 16]; a panel has for each k its columns side by side;
/// column c of row r of the result is result[c / 16 * result_step + 16 * r + c % 16].
struct PanelProduct {
  const float* left;
  std::size_t left_step;
  std::size_t blocks;  ///< of 16 elements of a row
  const float* panel;
  std::size_t columns;  ///< in blocks of 16: 1 or 2
  float* result;
  std::size_t result_step;
};

/// Computes `rows` rows, at most most_rows. Each sum is in the order of k, however many rows are
/// computed with it.
void multiply_rows(const PanelProduct& product, std::size_t rows);

}  // namespace polychron::kernels::direct

#endif
