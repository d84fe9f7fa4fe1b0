#include "kernels/direct/softmax_rows.hpp"

#ifdef POLYCHRON_WIDE

#include <limits>

#include "kernels/direct/exponential.hpp"

namespace polychron::kernels::direct {
namespace {

/// Returns the largest number of the row.
[[POLYCHRON_WIDE]] float scale_and_mask(float* row, std::size_t count, float scale,
                                        const float* mask, bool each_key) {
  const Wide factor = _mm512_set1_ps(scale);
  const Wide for_all = _mm512_set1_ps(mask == nullptr || each_key ? 0.0F : *mask);
  const bool masked = mask != nullptr && each_key;
  Wide largest = _mm512_set1_ps(-std::numeric_limits<float>::infinity());
  for (std::size_t at = 0; at < count; at += wide_floats) {
    const __mmask16 columns = present(count - at, 0);
    const Wide added = masked ? _mm512_maskz_loadu_ps(columns, mask + at) : for_all;
    const Wide score = _mm512_fmadd_ps(_mm512_maskz_loadu_ps(columns, row + at), factor, added);
    _mm512_mask_storeu_ps(row + at, columns, score);
    largest = _mm512_mask_max_ps(largest, columns, largest, score);
  }
  return _mm512_reduce_max_ps(largest);
}

[[POLYCHRON_WIDE]] void soften(float* row, std::size_t count, float largest) {
  Wide sum = _mm512_setzero_ps();
  const Wide most = _mm512_set1_ps(largest);
  for (std::size_t at = 0; at < count; at += wide_floats) {
    const __mmask16 columns = present(count - at, 0);
    const Wide weight = _mm512_maskz_mov_ps(
        columns,
        exponential_below_one(_mm512_sub_ps(_mm512_maskz_loadu_ps(columns, row + at), most)));
    _mm512_mask_storeu_ps(row + at, columns, weight);
    sum = _mm512_add_ps(sum, weight);
  }
  const Wide share = _mm512_set1_ps(1 / _mm512_reduce_add_ps(sum));
  for (std::size_t at = 0; at < count; at += wide_floats) {
    const __mmask16 columns = present(count - at, 0);
    _mm512_mask_storeu_ps(row + at, columns,
                          _mm512_mul_ps(_mm512_maskz_loadu_ps(columns, row + at), share));
  }
}

}  // namespace

void soften_rows(float* scores, std::size_t step, std::size_t rows, std::size_t count, float scale,
                 const Mask& mask) {
  for (std::size_t r = 0; r < rows; ++r) {
    const float* const of_row =
        mask.numbers == nullptr ? nullptr : mask.numbers + r * mask.row_step;
    float* const row = scores + r * step;
    soften(row, count, scale_and_mask(row, count, scale, of_row, mask.each_key));
  }
}

}  // namespace polychron::kernels::direct

#endif
