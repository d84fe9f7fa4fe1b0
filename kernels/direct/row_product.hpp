// Rows of a row-major matrix, multiplied with a panel of a constant one.
#pragma once

#include <cstddef>
#include <limits>

#include "kernels/direct/gelu.hpp"
#include "kernels/direct/panel_ahead.hpp"

#ifdef POLYCHRON_WIDE

namespace polychron::kernels::direct {

/// Rows that are computed together, and columns of a panel in vectors: what registers hold. (14
/// rows by two vectors, as convolutions have them, read more for each multiplication: 197 to 212
/// GFLOP/s where these reached 213 to 220.)
inline constexpr std::size_t most_product_rows = 8, most_product_vectors = 3;

/// Rows in groups: as few as most_product_rows allow, of about as many rows each.
struct RowGroups {
  std::size_t rows;

  std::size_t groups() const { return (rows + most_product_rows - 1) / most_product_rows; }
  std::size_t first_row(std::size_t group) const { return rows * group / groups(); }
  std::size_t rows_of(std::size_t group) const { return first_row(group + 1) - first_row(group); }
};

/// What is multiplied and added up. A panel has for each element its columns side by side.
struct RowProduct {
  const float* left;
  std::size_t left_step;  ///< floats from a row to the next
  const float* panel;
  std::size_t elements;  ///< of a row
  std::size_t vectors;   ///< of a panel's columns: 1 to most_product_vectors
  float* result;
  std::size_t result_step;
  std::size_t columns;  ///< of the panel that are there
  bool continues;       ///< sums begin with the result, not the bias
  bool ends;            ///< these are the last elements: what follows happens
  // What becomes of the sums.
  const float* bias = nullptr;   ///< a number for each column, or null
  const float* added = nullptr;  ///< lies as the result does, or null
  float lowest = -std::numeric_limits<float>::infinity();
  float highest = std::numeric_limits<float>::infinity();
  const NormalTail* gelu = nullptr;  ///< or null
  Fetch fetch = {};                  ///< what is on its way from memory meanwhile
};

/// Computes `rows` rows, at most most_product_rows. Each sum is in the order of its elements,
/// however many rows and columns are computed with it.
void multiply_rows(const RowProduct& product, std::size_t rows);

}  // namespace polychron::kernels::direct

#endif
