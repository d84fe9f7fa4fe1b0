// Rows of pictures in blocks of 16 channels, multiplied with a panel of a constant matrix: what
// convolutions in such layouts come down to.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>

#include "kernels/direct/wide.hpp"

#ifdef POLYCHRON_WIDE

namespace polychron::kernels::direct {

/// Rows that are computed together: as many as vectors hold, with two columns' sums of each.
inline constexpr std::size_t most_rows = 14;
/// Blocks of 16 columns of a panel, at most.
inline constexpr std::size_t most_columns = 2;
/// Elements that are multiplied at a time. A row has so many, or some more that are zero.
inline constexpr std::size_t elements_at_once = 4;

constexpr std::size_t filled_up(std::size_t elements) {
  return (elements + elements_at_once - 1) / elements_at_once * elements_at_once;
}

/// A summand: rows and the panel that they are multiplied with.
struct Tap {
  const float* left;
  const float* panel;
  std::size_t first = 0, last = most_rows;  ///< of the rows; the others are zero here
};

/// What is multiplied and added up, left and result aligned to 64 bytes. Element k of row r of a
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
  // What is read next, and on its way from memory meanwhile: no processor guesses these.
  const float* next_left = nullptr;   ///< the first tap's of the product after this one, or null
  const float* next_panel = nullptr;  ///< of a panel up to its end ...
  const float* next_panel_end = nullptr;
  std::size_t lines = 0;  ///< ... so many lines for each four elements
};

/// What a step reads first of its panels, at most. Chosen, not tuned, as is the number of lines
/// below.
inline constexpr std::size_t most_read_first = 64 * 1024;

/// A panel that is on its way from memory while products with the one before it are computed.
class PanelAhead {
 public:
  PanelAhead(const float* panel, std::size_t floats) : panel_(panel), end_(panel + floats) {}
  /// What the next step reads first (Bound::reads_first). That step's panels have another size: not
  /// more than some lines at once, whatever is left then.
  explicit PanelAhead(std::span<const std::byte> of_next_step)
      : PanelAhead(reinterpret_cast<const float*>(of_next_step.data()),
                   of_next_step.size() / sizeof(float)) {
    most_lines_ = 4;
  }

  /// Gives `product` its share, where `times` like it are left to be computed, its own among them.
  void share(PanelProduct& product, std::size_t times) {
    const std::size_t fours = product.taps.size() * (product.elements / elements_at_once);
    const auto lines = static_cast<std::size_t>(end_ - panel_) / wide_floats;
    product.lines = 0;  // or what one before it fetched would be fetched again
    if (lines == 0 || fours == 0) return;
    product.lines = std::min((lines + fours * times - 1) / (fours * times), most_lines_);
    product.next_panel = panel_;
    product.next_panel_end = end_;
    panel_ += std::min(product.lines * fours * product.times, lines) * wide_floats;
  }

 private:
  const float* panel_;
  const float* end_;
  std::size_t most_lines_ = std::numeric_limits<std::size_t>::max();
};

/// Computes `rows` rows, at most most_rows. Each sum is in the order of taps and k, however many
/// rows are computed with it, and begins with the bias.
void multiply_rows(const PanelProduct& product, std::size_t rows);

}  // namespace polychron::kernels::direct

#endif
