// The panels that multiply_rows() multiplies rows with.
#pragma once

#include <algorithm>

#include "kernels/direct/matrix_panels.hpp"
#include "kernels/direct/row_product.hpp"

namespace polychron::kernels::direct {

/// Divides a matrix's columns into the fewest panels that hold them, with nearly equal widths.
struct ColumnPanels {
  std::size_t columns;
  RowTile tile = RowTile::get();

  std::size_t vectors() const { return (columns + tile.lanes - 1) / tile.lanes; }
  /// Floats that hold a matrix of `rows` rows in panels.
  std::size_t floats(std::size_t rows) const { return vectors() * tile.lanes * rows; }
  std::size_t panels() const { return (vectors() + tile.vectors - 1) / tile.vectors; }
  std::size_t first_vector(std::size_t panel) const { return vectors() * panel / panels(); }
  std::size_t vectors_of(std::size_t panel) const {
    return first_vector(panel + 1) - first_vector(panel);
  }
  std::size_t first_column(std::size_t panel) const { return first_vector(panel) * tile.lanes; }
  /// The columns of a panel, with those that fill its last vector up.
  std::size_t width_of(std::size_t panel) const { return vectors_of(panel) * tile.lanes; }
};

/// Packs all panels of a matrix with these columns, one behind the other. `to` has room for
/// panels.floats(matrix.rows).
inline void fill_panels(const RightMatrix& matrix, const ColumnPanels& panels, float* to) {
  for (std::size_t panel = 0; panel < panels.panels(); ++panel) {
    const std::size_t first = panels.first_column(panel), width = panels.width_of(panel);
    fill_panel(matrix, first, std::min(width, matrix.columns - first), width,
               to + first * matrix.rows);
  }
}

}  // namespace polychron::kernels::direct
