// Panels of a matrix that is no constant: made anew for each product.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/direct/wide.hpp"

#ifdef POLYCHRON_WIDE

namespace polychron::kernels::direct {

/// A matrix whose rows or columns each lie together: one of the steps is 1.
struct OperandMatrix {
  const float* elements;
  std::int64_t row_step, column_step;
  std::size_t rows, columns;
};

/// As fill_panel() of kernels/direct/matrix_panels.hpp: columns `first` to `first + count`, for
/// each row side by side, and zeros up to whole vectors, of which these are.
void pack_panel(const OperandMatrix& matrix, std::size_t first, std::size_t count,
                std::size_t vectors, float* panel);

}  // namespace polychron::kernels::direct

#endif
