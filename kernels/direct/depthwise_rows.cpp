#include "kernels/direct/depthwise_rows.hpp"

#ifdef POLYCHRON_WIDE

#include <array>
#include <utility>

namespace polychron::kernels::direct {
namespace {

template <std::size_t Rows, std::size_t Pixels>
using Sums = Wide[Rows][Pixels];

template <bool Adds, std::size_t Rows, std::size_t Pixels>
[[gnu::always_inline, POLYCHRON_WIDE]] inline void store(const DepthwiseRows& rows,
                                                         std::size_t offset,
                                                         const Sums<Rows, Pixels>& sums) {
  const Wide lowest = _mm512_set1_ps(rows.lowest), highest = _mm512_set1_ps(rows.highest);
  const auto channels = static_cast<__mmask16>(rows.channels);
  const std::size_t step = rows.result_row;
  float* result = rows.result + offset;
  const float* added = Adds ? rows.added + offset : nullptr;
  POLYCHRON_UNROLLED_LOOP
  for (std::size_t y = 0; y < Rows; ++y, result += step) {
    POLYCHRON_UNROLLED_LOOP
    for (std::size_t p = 0; p < Pixels; ++p) {
      Wide sum = sums[y][p];
      if constexpr (Adds) sum = _mm512_add_ps(sum, _mm512_loadu_ps(added + p * wide_floats));
      // NaN stays; channels of padding become 0.
      sum = _mm512_maskz_min_ps(channels, highest, _mm512_max_ps(lowest, sum));
      _mm512_storeu_ps(result + p * wide_floats, sum);
    }
    if constexpr (Adds) added += step;
  }
}

/// Walks through the picture row by row and column by column, which is the order of taps in each
/// sum. All loops are unrolled except the one over groups, so that conditions on their counters are
/// constant. The tests of rows and columns against the picture's edge are cheap beside the
/// products.
template <std::size_t Window, std::size_t StrideY, std::size_t StrideX, std::size_t Rows,
          std::size_t Pixels>
[[POLYCHRON_WIDE]] void multiply(const DepthwiseRows& rows) {
  constexpr std::size_t seen_rows = (Rows - 1) * StrideY + Window;
  constexpr std::size_t seen_columns = (Pixels - 1) * StrideX + Window;
  const float* const filter = rows.filter;
  constexpr bool held = Window == 3;  // keeps the filter in registers; else loads it by rows
  Wide all_weights[held ? Window * Window : 1];
  if constexpr (held) {
    POLYCHRON_UNROLLED_LOOP
    for (std::size_t i = 0; i < Window * Window; ++i)
      all_weights[i] = _mm512_load_ps(filter + i * wide_floats);
  }
  const Wide bias = rows.bias == nullptr
                        ? _mm512_setzero_ps()
                        : _mm512_maskz_loadu_ps(static_cast<__mmask16>(rows.channels), rows.bias);
  const auto is_from = [](std::size_t at, std::ptrdiff_t first, std::ptrdiff_t last) {
    return static_cast<std::ptrdiff_t>(at) >= first && static_cast<std::ptrdiff_t>(at) < last;
  };
  const std::ptrdiff_t first_row = rows.first_row, last_row = rows.last_row;
  std::ptrdiff_t first = rows.first_column, last = rows.last_column;
  const float* picture = rows.picture;
  const std::size_t picture_row = rows.picture_row, groups = rows.groups;
  for (std::size_t group = 0; group < groups; ++group) {
    Sums<Rows, Pixels> sums;
    POLYCHRON_UNROLLED_LOOP
    for (std::size_t y = 0; y < Rows; ++y) {
      POLYCHRON_UNROLLED_LOOP
      for (std::size_t p = 0; p < Pixels; ++p) sums[y][p] = bias;
    }
    POLYCHRON_UNROLLED_LOOP
    for (std::size_t r = 0; r < seen_rows; ++r) {
      if (!is_from(r, first_row, last_row)) continue;
      const float* const row = picture + r * picture_row;
      Wide weights[Rows][Window];
      POLYCHRON_UNROLLED_LOOP
      for (std::size_t y = 0; y < Rows; ++y) {
        if (r < y * StrideY || r - y * StrideY >= Window) continue;
        const std::size_t first_tap = (r - y * StrideY) * Window;
        POLYCHRON_UNROLLED_LOOP
        for (std::size_t i = 0; i < Window; ++i)
          weights[y][i] = held ? all_weights[first_tap + i]
                               : _mm512_load_ps(filter + (first_tap + i) * wide_floats);
      }
      POLYCHRON_UNROLLED_LOOP
      for (std::size_t c = 0; c < seen_columns; ++c) {
        if (!is_from(c, first, last)) continue;
        const Wide pixel = _mm512_loadu_ps(row + c * wide_floats);
        POLYCHRON_UNROLLED_LOOP
        for (std::size_t y = 0; y < Rows; ++y) {
          if (r < y * StrideY || r - y * StrideY >= Window) continue;
          POLYCHRON_UNROLLED_LOOP
          for (std::size_t p = 0; p < Pixels; ++p) {
            if (c < p * StrideX || c - p * StrideX >= Window) continue;
            sums[y][p] = _mm512_fmadd_ps(pixel, weights[y][c - p * StrideX], sums[y][p]);
          }
        }
      }
    }
    const std::size_t offset = group * Pixels * wide_floats;
    if (rows.added == nullptr)
      store<false, Rows, Pixels>(rows, offset, sums);
    else
      store<true, Rows, Pixels>(rows, offset, sums);
    picture += Pixels * StrideX * wide_floats;
    first -= std::ptrdiff_t{Pixels * StrideX};
    last -= std::ptrdiff_t{Pixels * StrideX};
  }
}

using Multiply = void (*)(const DepthwiseRows&);
using ForPixels = std::array<Multiply, most_depthwise_pixels>;
using ForRows = std::array<ForPixels, most_depthwise_rows>;
using ForStrides = std::array<ForRows, 4>;

template <std::size_t Window, std::size_t StrideY, std::size_t StrideX, std::size_t Rows,
          std::size_t... Pixels>
constexpr ForPixels for_pixels(std::index_sequence<Pixels...>) {
  return {multiply<Window, StrideY, StrideX, Rows, Pixels + 1>...};
}

template <std::size_t Window, std::size_t StrideY, std::size_t StrideX>
constexpr ForRows for_rows() {
  using Pixels = std::make_index_sequence<most_depthwise_pixels>;
  return {for_pixels<Window, StrideY, StrideX, 1>(Pixels()),
          for_pixels<Window, StrideY, StrideX, 2>(Pixels())};
}

template <std::size_t Window>
constexpr ForStrides for_strides() {
  return {for_rows<Window, 1, 1>(), for_rows<Window, 1, 2>(), for_rows<Window, 2, 1>(),
          for_rows<Window, 2, 2>()};
}

constexpr std::array<ForStrides, 2> ways{for_strides<3>(), for_strides<5>()};

}  // namespace

void multiply_depthwise(const DepthwiseWindow& window, std::size_t count, std::size_t pixels,
                        const DepthwiseRows& rows) {
  const ForStrides& strides = ways[window.size / 2 - 1];
  strides[(window.stride_y - 1) * 2 + window.stride_x - 1][count - 1][pixels - 1](rows);
}

}  // namespace polychron::kernels::direct

#endif
