// A matrix of 4-bit or 8-bit integers in panels of columns, and the rows that it is multiplied
// with.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/packed_product.hpp"
#include "polychron/buffer.hpp"

namespace polychron::kernels::direct {

/// The elements of a column that share a 32-bit word, the first one in the highest 4 bits.
inline constexpr std::size_t nibbles_of_word = 8;
/// The most rows for which a panel is unpacked once.
inline constexpr std::size_t most_packed_rows = 64;

/// The layout of a panel: block after block. A block has the scales of the columns, their zero
/// points and their minima, where there are such, as float32, then the elements. These are words
/// of 4-bit integers or bytes, as signed integers, for all columns side by side.
struct PackedLayout {
  std::size_t elements = 0, block = 0;  ///< of a column
  std::size_t width = 0;                ///< columns of a panel
  bool four_bits = false, zeros = false, minima = false;

  std::size_t blocks() const { return elements / block; }
  std::size_t numbers_bytes() const {
    return (std::size_t{1} + (zeros ? 1 : 0) + (minima ? 1 : 0)) * width * sizeof(float);
  }
  std::size_t block_bytes() const {
    const std::size_t words = (block + nibbles_of_word - 1) / nibbles_of_word;
    // Whole words, so that numbers are aligned.
    const std::size_t bytes = (block + 3) / 4 * 4;
    return numbers_bytes() + width * (four_bits ? words * 4 : bytes);
  }
  std::size_t panel_bytes() const { return blocks() * block_bytes(); }
};

/// Packs the matrix of a problem of op_packed_product. Sets `layout.zeros` and `layout.minima` as
/// the numbers need it.
Buffer pack_panels(const Problem& problem, const PackedOperands& o, PackedLayout& layout);

/// The product of some rows with a panel.
struct PackedTiles {
  const float* rows = nullptr;        ///< neighbours are `layout.elements` apart
  const float* block_sums = nullptr;  ///< of each row and block: the sum of its elements
  std::size_t count = 0;              ///< of rows, at most most_packed_rows
  const std::byte* panel = nullptr;
  float* results = nullptr;  ///< of the first row
  std::size_t step = 0;      ///< elements between rows of the results
  std::size_t columns = 0;   ///< columns of the panel that exist
};

/// PackedLayout::width for this processor's vectors.
std::size_t columns_of_panel();
/// Computes the results. A row has the same bits whatever rows are beside it.
void multiply_panel(const PackedLayout& layout, const PackedTiles& tiles);
/// The sum of `count` numbers.
float sum_of_floats(const float* x, std::size_t count);

}  // namespace polychron::kernels::direct
