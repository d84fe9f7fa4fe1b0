// The panels that multiply_rows() multiplies rows with.
#pragma once

#include "kernels/direct/matrix_panels.hpp"
#include "kernels/direct/row_product.hpp"

#ifdef POLYCHRON_WIDE

namespace polychron::kernels::direct {

/// Divides a matrix's columns into the fewest panels that hold them, with nearly equal widths.
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

/// Packs all panels of a matrix with these columns, one behind the other. `to` has room for the
/// matrix's rows times its columns, rounded up to whole vectors.
void fill_panels(const RightMatrix& matrix, const ColumnPanels& panels, float* to);

}  // namespace polychron::kernels::direct

#endif
