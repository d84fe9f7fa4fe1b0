#include "kernels/direct/matrix_panels.hpp"

#include <algorithm>
#include <cstring>

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

namespace {

using Four [[gnu::vector_size(16)]] = float;
constexpr std::size_t side = 4;

/// Copies four columns of four elements, which are side by side in their column, into four rows.
void transpose_four(const float* from, std::int64_t column_step, float* to, std::size_t row_step) {
  Four columns[side];
  for (std::size_t c = 0; c < side; ++c)
    std::memcpy(&columns[c], from + static_cast<std::int64_t>(c) * column_step, sizeof(Four));
  const auto lower = [](Four a, Four b) { return __builtin_shufflevector(a, b, 0, 4, 1, 5); };
  const auto upper = [](Four a, Four b) { return __builtin_shufflevector(a, b, 2, 6, 3, 7); };
  const Four a = lower(columns[0], columns[2]), b = lower(columns[1], columns[3]),
             c = upper(columns[0], columns[2]), d = upper(columns[1], columns[3]);
  const Four rows[side] = {lower(a, b), upper(a, b), lower(c, d), upper(c, d)};
  for (std::size_t r = 0; r < side; ++r) std::memcpy(to + r * row_step, &rows[r], sizeof(Four));
}

}  // namespace

void fill_panel(const RightMatrix& matrix, std::size_t first, std::size_t count, std::size_t width,
                float* panel) {
  // Rows per block: a cache line is then read once, in either order of the elements.
  constexpr std::size_t together = 16;
  const float* const from = matrix.elements + static_cast<std::int64_t>(first) * matrix.column_step;
  const auto at = [&](std::size_t row, std::size_t column) {
    return from + static_cast<std::int64_t>(row) * matrix.row_step +
           static_cast<std::int64_t>(column) * matrix.column_step;
  };
  for (std::size_t begin = 0; begin < matrix.rows; begin += together) {
    const std::size_t end = std::min(begin + together, matrix.rows);
    if (matrix.column_step == 1) {
      for (std::size_t row = begin; row < end; ++row)
        std::copy_n(at(row, 0), count, panel + row * width);
    } else {
      std::size_t column = 0;
      if (matrix.row_step == 1 && (end - begin) % side == 0)
        for (; column + side <= count; column += side)
          for (std::size_t row = begin; row < end; row += side)
            transpose_four(at(row, column), matrix.column_step, panel + row * width + column,
                           width);
      for (; column < count; ++column)
        for (std::size_t row = begin; row < end; ++row)
          panel[row * width + column] = *at(row, column);
    }
    for (std::size_t row = begin; row < end && count < width; ++row)
      std::fill(panel + row * width + count, panel + (row + 1) * width, 0.0F);
  }
}

}  // namespace polychron::kernels::direct
