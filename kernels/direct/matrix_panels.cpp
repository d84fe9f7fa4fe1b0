#include "kernels/direct/matrix_panels.hpp"

#include <algorithm>

namespace polychron::kernels::direct {

RightMatrix RightMatrix::of(const Problem& problem) {
  const Slot& slot = problem.inputs[1];
  const Shape& shape = slot.descriptor.shape;
  const auto* const gemm = std::get_if<GemmAttributes>(&problem.attributes);
  const bool transposed = gemm != nullptr && gemm->b_transpose;
  const std::size_t last = shape.size() - 1;
  const std::size_t row = transposed ? last : last - 1, column = transposed ? last - 1 : last;
  const auto steps = steps_of(slot);
  return {slot.constant->as<float>().data(), steps[row], steps[column], shape[row], shape[column]};
}

void fill_panel(const RightMatrix& matrix, std::size_t first, std::size_t count, std::size_t width,
                float* panel) {
  // Rows per block: a cache line is then read once, in either order of the elements.
  constexpr std::size_t together = 16;
  const float* const from = matrix.elements + static_cast<std::int64_t>(first) * matrix.column_step;
  for (std::size_t begin = 0; begin < matrix.rows; begin += together) {
    const std::size_t end = std::min(begin + together, matrix.rows);
    if (matrix.column_step == 1) {
      for (std::size_t row = begin; row < end; ++row)
        std::copy_n(from + static_cast<std::int64_t>(row) * matrix.row_step, count,
                    panel + row * width);
    } else {
      for (std::size_t column = 0; column < count; ++column)
        for (std::size_t row = begin; row < end; ++row)
          panel[row * width + column] =
              from[static_cast<std::int64_t>(row) * matrix.row_step +
                   static_cast<std::int64_t>(column) * matrix.column_step];
    }
    for (std::size_t row = begin; row < end && count < width; ++row)
      std::fill(panel + row * width + count, panel + (row + 1) * width, 0.0F);
  }
}

}  // namespace polychron::kernels::direct
