// Rows of pictures in blocks of 16 channels, multiplied with a panel of a constant matrix: what
// convolutions in such layouts come down to.
#pragma once

#include <cstddef>
#include <limits>
#include <span>

#include "kernels/direct/panel_ahead.hpp"

#ifdef POLYCHRON_WIDE

namespace polychron::kernels::direct {

/// Rows that are computed together: as many as vectors hold, with two columns' sums of each.
inline constexpr std::size_t most_rows = 14;
/// Blocks of 16 columns of a panel, at most.
inline constexpr std::size_t most_columns = 2;

/// A row has so many elements, or some more that are zero.
constexpr std::size_t filled_up(std::size_t elements) {
  return (elements + elements_at_once - 1) / elements_at_once * elements_at_once;
}

/// A summand: rows and the panel that they are multiplied with.
struct Tap {
  const float* left;
  const float* panel;
  std::size_t first = 0, last = most_rows;  ///< of the rows; the others are zero here
};

/// What is multiplied and added up, wherever it lies: a caller's memory is not aligned as a plan's
/// is. Element k of row r of a
/// tap is left[k / 16 * left_step + r * row_step + k % 16]; a panel has for each k its columns side
/// by side; column c of row r of the result is result[c / 16 * result_step + 16 * r + c % 16].
struct PanelProduct {
  std::span<const Tap> taps;
  std::size_t row_step;  ///< 16 or 32
  std::size_t left_step;
  std::size_t times;     ///< so often, with the rows behind these; 1 if taps lack some
  std::size_t elements;  ///< of a row of a tap, filled_up()
  std::size_t columns;   ///< in blocks of 16: 1 or 2
  float* result;
  std::size_t result_step;
  // What becomes of the sums.
  std::size_t channels = most_columns * wide_floats;  ///< columns of which there is a result
  const float* bias = nullptr;                        ///< a number for each of them, or null
  const float* added = nullptr;                       ///< lies as the result does, or null
  float lowest = -std::numeric_limits<float>::infinity();
  float highest = std::numeric_limits<float>::infinity();
  // What is read next, and on its way from memory meanwhile.
  const float* next_left = nullptr;  ///< the first tap's of the product after this one, or null
  Fetch fetch = {};                  ///< of the next panel

  /// Fours of elements that are multiplied.
  std::size_t fours() const { return taps.size() * (elements / elements_at_once); }
};

/// Computes `rows` rows, at most most_rows. Each sum is in the order of taps and k, however many
/// rows are computed with it, and begins with the bias.
void multiply_rows(const PanelProduct& product, std::size_t rows);

}  // namespace polychron::kernels::direct

#endif
