// Rows of pictures in blocks of channels, multiplied with a panel of a constant matrix: the core
// of convolutions in blocked layouts.
#pragma once

#include <cstddef>
#include <limits>
#include <span>

#include "kernels/direct/panel_ahead.hpp"

namespace polychron::kernels::direct {

/// Rows that are computed together: registers hold the sums of two blocks of columns for each.
std::size_t most_rows();
/// At least most_rows() of any processor.
inline constexpr std::size_t any_rows = 14;
/// The most blocks of columns in a panel.
inline constexpr std::size_t most_columns = 2;

/// The elements of a row, padded with zeros to a multiple of elements_at_once.
constexpr std::size_t filled_up(std::size_t elements) {
  return (elements + elements_at_once - 1) / elements_at_once * elements_at_once;
}

/// A summand: rows and the panel that they are multiplied with.
struct Tap {
  const float* left;
  const float* panel;
  std::size_t first = 0, last = any_rows;  ///< rows that exist; the others are zero here
};

/// A sum of products. Operands may be anywhere: a caller's memory is not aligned as a plan's is.
///
/// With blocks of 16, element k of row r of a tap is left[k / 16 * left_step + r * row_step + k %
/// 16]. A panel has its columns side by side for each k. Column c of row r of the result is
/// result[c / 16 * result_step + 16 * r + c % 16].
struct PanelProduct {
  std::span<const Tap> taps;
  std::size_t row_step;  ///< a block or two
  std::size_t left_step;
  std::size_t times;     ///< repetitions, each with the next rows; 1 if taps lack some
  std::size_t elements;  ///< of a row of a tap, filled_up()
  std::size_t columns;   ///< in blocks: 1 or 2
  float* result;
  std::size_t result_step;
  // The epilogue.
  std::size_t channels = std::numeric_limits<std::size_t>::max();  ///< columns with a result
  const float* bias = nullptr;   ///< a number for each channel, or null
  const float* added = nullptr;  ///< laid out like the result, or null
  float lowest = -std::numeric_limits<float>::infinity();
  float highest = std::numeric_limits<float>::infinity();
  // Prefetched during the product.
  const float* next_left = nullptr;  ///< first tap of the product after this one, or null
  Fetch fetch = {};                  ///< of the next panel

  /// Groups of four elements that are multiplied.
  std::size_t fours() const { return taps.size() * (elements / elements_at_once); }
};

/// Needs has_fused_vectors(). Computes `rows` rows, at most most_rows(). Each sum begins with the
/// bias and adds in the order of taps and k, however many rows are computed together.
void multiply_rows(const PanelProduct& product, std::size_t rows);

}  // namespace polychron::kernels::direct
