// A constant matrix that rows are multiplied with, and panels of its columns.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/problem.hpp"

namespace polychron::kernels::direct {

/// The right operand of a product, anywhere in memory.
struct RightMatrix {
  const float* elements;
  std::int64_t row_step, column_step;
  std::size_t rows, columns;

  /// The right operand of a matmul or gemm, which is one constant float32 matrix.
  static RightMatrix of(const Problem& problem);
};

/// Packs columns [first, first + count): for each row side by side, with zeros up to `width`.
void fill_panel(const RightMatrix& matrix, std::size_t first, std::size_t count, std::size_t width,
                float* panel);

}  // namespace polychron::kernels::direct
