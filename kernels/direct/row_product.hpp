// Rows of a row-major matrix, multiplied with a panel of a constant one.
#pragma once

#include <cstddef>
#include <limits>

#include "kernels/direct/gelu.hpp"
#include "kernels/direct/panel_ahead.hpp"

#ifdef POLYCHRON_WIDE

namespace polychron::kernels::direct {

/// The rows that are computed together, and the vectors of a panel's columns, that fit into
/// registers. (14 rows by two vectors, as convolutions have, load more for each multiplication: 197
/// to 212 GFLOP/s instead of 213 to 220.)
inline constexpr std::size_t most_product_rows = 8, most_product_vectors = 3;

/// Divides rows into the fewest groups of at most most_product_rows, with nearly equal sizes.
struct RowGroups {
  std::size_t rows;

  std::size_t groups() const { return (rows + most_product_rows - 1) / most_product_rows; }
  std::size_t first_row(std::size_t group) const { return rows * group / groups(); }
  std::size_t rows_of(std::size_t group) const { return first_row(group + 1) - first_row(group); }
};

/// The operands of a product. A panel has its columns side by side for each element.
struct RowProduct {
  const float* left;
  std::size_t left_step;  ///< floats from a row to the next
  const float* panel;
  std::size_t elements;  ///< of a row
  std::size_t vectors;   ///< vectors of a panel's columns: 1 to most_product_vectors
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

/// Computes `rows` rows, at most most_product_rows. Each sum adds in the order of its elements,
/// however many rows and columns are computed together.
void multiply_rows(const RowProduct& product, std::size_t rows);

}  // namespace polychron::kernels::direct

#endif
