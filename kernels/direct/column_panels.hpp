// The panels that rows are multiplied with by multiply_rows().
#pragma once

#include "kernels/direct/matrix_panels.hpp"
#include "kernels/direct/row_product.hpp"

#ifdef POLYCHRON_WIDE

namespace polychron::kernels::direct {

/// A matrix's columns in panels: as few as hold them, of about as many vectors each.
struct ColumnPanels {
  std::size_t columns;

  std::size_t vectors() const { return (columns + wide_floats - 1) / wide_floats; }
  std::size_t panels() const {
    return (vectors() + most_product_vectors - 1) / most_product_vectors;
  }
  std::size_t first_vector(std::size_t panel) const { return vectors() * panel / panels(); }
  std::size_t vectors_of(std::size_t panel) const {
    return first_vector(panel + 1) - first_vector(panel);
  }
  std::size_t first_column(std::size_t panel) const { return first_vector(panel) * wide_floats; }
};

/// All panels of a matrix with these columns, one behind the other; at `to` are as many floats as
/// its rows and whole vectors of its columns have.
void fill_panels(const RightMatrix& matrix, const ColumnPanels& panels, float* to);

}  // namespace polychron::kernels::direct

#endif
