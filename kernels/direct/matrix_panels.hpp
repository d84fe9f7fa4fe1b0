// A matrix that rows are multiplied with, and panels of its columns.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/problem.hpp"

namespace polychron::kernels::direct {

/// The right operand of a product as that takes it, wherever its elements lie.
struct RightMatrix {
  const float* elements;
  std::int64_t row_step, column_step;
  std::size_t rows, columns;

  /// Of a matmul or gemm whose right operand is one constant matrix in float32.
  static RightMatrix of(const Problem& problem);
};

/// Columns `first` to `first + count`, for each row side by side, and zeros up to `width`.
void fill_panel(const RightMatrix& matrix, std::size_t first, std::size_t count, std::size_t width,
                float* panel);

}  // namespace polychron::kernels::direct
