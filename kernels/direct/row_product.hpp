// Rows of a row-major matrix, multiplied with a panel of a constant one.
#pragma once

#include <cstddef>
#include <limits>

#include "kernels/direct/gelu.hpp"
#include "kernels/direct/panel_ahead.hpp"

namespace polychron::kernels::direct {

/// What fits into the processor's registers: the sums of some rows by some vectors of a panel's
/// columns.
struct RowTile {
  std::size_t rows;     ///< the most that are computed together
  std::size_t vectors;  ///< the most of a panel
  std::size_t lanes;    ///< floats of a vector

  static const RowTile& get();
};

/// Divides rows into the fewest groups of at most RowTile::rows, with nearly equal sizes.
struct RowGroups {
  std::size_t rows;
  std::size_t most = RowTile::get().rows;

  std::size_t groups() const { return (rows + most - 1) / most; }
  std::size_t first_row(std::size_t group) const { return rows * group / groups(); }
  std::size_t rows_of(std::size_t group) const { return first_row(group + 1) - first_row(group); }
};

/// The operands of a product. A panel has its columns side by side for each element.
struct RowProduct {
  const float* left;
  std::size_t left_step;  ///< floats from a row to the next
  const float* panel;
  std::size_t elements;  ///< of a row
  std::size_t vectors;   ///< vectors of a panel's columns: 1 to RowTile::vectors
  float* result;
  std::size_t result_step;
  std::size_t columns;  ///< columns of the panel that exist
  bool continues;       ///< true: sums begin with the result, not the bias
  bool ends;            ///< true: the last elements, so the epilogue follows
  // The epilogue.
  const float* bias = nullptr;   ///< a number for each column, or null
  const float* added = nullptr;  ///< laid out like the result, or null
  float lowest = -std::numeric_limits<float>::infinity();
  float highest = std::numeric_limits<float>::infinity();
  const NormalTail* gelu = nullptr;  ///< or null
  Fetch fetch = {};                  ///< prefetched during the product
};

/// Needs has_fused_vectors(): without such instructions oneDNN is faster. Computes `rows` rows, at
/// most RowTile::rows. Each sum adds in the order of its elements, however many rows and columns
/// are computed together.
void multiply_rows(const RowProduct& product, std::size_t rows);

}  // namespace polychron::kernels::direct
