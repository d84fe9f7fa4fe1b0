#include "kernels/direct/column_panels.hpp"

#include <algorithm>

#include "kernels/direct/avx512.hpp"

namespace polychron::kernels::direct {

#ifdef POLYCHRON_WIDE
namespace {

/// Lanes 0 and 2, or 1 and 3, of both vectors.
template <int Lanes>
[[gnu::always_inline, POLYCHRON_WIDE]] inline Wide lanes_of(Wide a, Wide b) {
  return _mm512_shuffle_f32x4(a, b, Lanes);
}

/// Transposes 16 columns of up to 16 elements, `step` floats apart, into rows of a panel.
[[POLYCHRON_WIDE]] void transpose(const float* from, std::int64_t step, std::size_t columns,
                                  std::size_t rows, float* panel, std::size_t width) {
  constexpr int even = 0x88, odd = 0xdd;
  const __mmask16 elements = present(rows, 0);
  Wide in[16], fours[16], result[16];
  POLYCHRON_UNROLLED_LOOP
  for (std::size_t c = 0; c < 16; ++c)
    in[c] = c < columns
                ? _mm512_maskz_loadu_ps(elements, from + static_cast<std::int64_t>(c) * step)
                : _mm512_setzero_ps();
  // For four columns, each quarter of a vector has the same element of all four.
  POLYCHRON_UNROLLED_LOOP
  for (std::size_t c = 0; c < 16; c += 4) {
    const __m512d a = _mm512_castps_pd(_mm512_unpacklo_ps(in[c], in[c + 1]));
    const __m512d b = _mm512_castps_pd(_mm512_unpackhi_ps(in[c], in[c + 1]));
    const __m512d d = _mm512_castps_pd(_mm512_unpacklo_ps(in[c + 2], in[c + 3]));
    const __m512d e = _mm512_castps_pd(_mm512_unpackhi_ps(in[c + 2], in[c + 3]));
    fours[c] = _mm512_castpd_ps(_mm512_unpacklo_pd(a, d));
    fours[c + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(a, d));
    fours[c + 2] = _mm512_castpd_ps(_mm512_unpacklo_pd(b, e));
    fours[c + 3] = _mm512_castpd_ps(_mm512_unpackhi_pd(b, e));
  }
  // Element i is in quarter i / 4 of fours[i % 4]; that of the next four columns in fours[4 + i %
  // 4].
  POLYCHRON_UNROLLED_LOOP
  for (std::size_t k = 0; k < 4; ++k) {
    const Wide a = lanes_of<even>(fours[k], fours[4 + k]);
    const Wide b = lanes_of<even>(fours[8 + k], fours[12 + k]);
    const Wide c = lanes_of<odd>(fours[k], fours[4 + k]);
    const Wide d = lanes_of<odd>(fours[8 + k], fours[12 + k]);
    result[k] = lanes_of<even>(a, b);
    result[4 + k] = lanes_of<even>(c, d);
    result[8 + k] = lanes_of<odd>(a, b);
    result[12 + k] = lanes_of<odd>(c, d);
  }
  POLYCHRON_UNROLLED_LOOP
  for (std::size_t r = 0; r < 16; ++r)
    if (r < rows) _mm512_storeu_ps(panel + r * width, result[r]);
}

/// Packs `count` columns, each of which is contiguous, as an attention's keys are.
void transpose_columns(const RightMatrix& matrix, std::size_t first, std::size_t count,
                       std::size_t width, float* to) {
  const float* const from = matrix.elements + static_cast<std::int64_t>(first) * matrix.column_step;
  for (std::size_t column = 0; column < width; column += wide_floats)
    for (std::size_t row = 0; row < matrix.rows; row += wide_floats)
      transpose(from + static_cast<std::int64_t>(column) * matrix.column_step + row,
                matrix.column_step, std::min(count - column, wide_floats),
                std::min(matrix.rows - row, wide_floats), to + row * width + column, width);
}

}  // namespace
#endif

void fill_panels(const RightMatrix& matrix, const ColumnPanels& panels, float* to) {
  for (std::size_t panel = 0; panel < panels.panels(); ++panel) {
    const std::size_t first = panels.first_column(panel), width = panels.width_of(panel);
    const std::size_t count = std::min(width, matrix.columns - first);
    float* const own = to + first * matrix.rows;
#ifdef POLYCHRON_WIDE
    if (matrix.row_step == 1 && has_avx512()) {
      transpose_columns(matrix, first, count, width, own);
      continue;
    }
#endif
    fill_panel(matrix, first, count, width, own);
  }
}

}  // namespace polychron::kernels::direct
