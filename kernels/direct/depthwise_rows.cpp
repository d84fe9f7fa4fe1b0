// Written with Highway, which compiles this file once for each instruction set and chooses the
// processor's at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/direct/depthwise_rows.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <hwy/highway.h>

#include <array>
#include <utility>

#include "kernels/direct/depthwise_rows.hpp"
#include "kernels/direct/picture_vectors.hpp"

HWY_BEFORE_NAMESPACE();
namespace polychron::kernels::direct::HWY_NAMESPACE {

// With 32 registers two rows have the filter of 3x3 in common. With 16, a longer row needs as few
// loads as two short ones.
constexpr std::size_t most_rows_of_tile = has_32_registers ? 2 : 1, most_pixels = 7;

DepthwiseTile depthwise_tile() { return {most_rows_of_tile, most_pixels}; }

#if POLYCHRON_FUSED_TARGET

template <std::size_t Rows, std::size_t Pixels>
using Sums = Reals[Rows][Pixels];

template <bool Adds, std::size_t Rows, std::size_t Pixels>
HWY_INLINE void store(const DepthwiseRows& rows, std::size_t offset,
                      const Sums<Rows, Pixels>& sums) {
  const Bounds bounds(rows.lowest, rows.highest, rows.channels);
  const std::size_t step = rows.result_row;
  float* result = rows.result + offset;
  const float* added = Adds ? rows.added + offset : nullptr;
  POLYCHRON_UNROLLED_LOOP
  for (std::size_t y = 0; y < Rows; ++y, result += step) {
    POLYCHRON_UNROLLED_LOOP
    for (std::size_t p = 0; p < Pixels; ++p) {
      auto sum = sums[y][p];
      if constexpr (Adds) sum = hn::Add(sum, hn::LoadU(Real(), added + p * block_floats));
      hn::StoreU(bounds.of(sum), Real(), result + p * block_floats);
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
void multiply(const DepthwiseRows& rows) {
  constexpr std::size_t seen_rows = (Rows - 1) * StrideY + Window;
  constexpr std::size_t seen_columns = (Pixels - 1) * StrideX + Window;
  const Real d;
  const float* const filter = rows.filter;
  constexpr bool held = Window == 3 && has_32_registers;  // in registers; else loads it by rows
  Reals all_weights[held ? Window * Window : 1];
  if constexpr (held) {
    POLYCHRON_UNROLLED_LOOP
    for (std::size_t i = 0; i < Window * Window; ++i)
      all_weights[i] = hn::LoadU(d, filter + i * block_floats);
  }
  const auto bias = rows.bias == nullptr ? hn::Zero(d) : load_some(d, rows.bias, rows.channels);
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
      Reals weights[Rows][Window];
      POLYCHRON_UNROLLED_LOOP
      for (std::size_t y = 0; y < Rows; ++y) {
        if (r < y * StrideY || r - y * StrideY >= Window) continue;
        const std::size_t first_tap = (r - y * StrideY) * Window;
        POLYCHRON_UNROLLED_LOOP
        for (std::size_t i = 0; i < Window; ++i)
          if constexpr (held)
            weights[y][i] = all_weights[first_tap + i];
          else
            weights[y][i] = hn::LoadU(d, filter + (first_tap + i) * block_floats);
      }
      POLYCHRON_UNROLLED_LOOP
      for (std::size_t c = 0; c < seen_columns; ++c) {
        if (!is_from(c, first, last)) continue;
        const auto pixel = hn::LoadU(d, row + c * block_floats);
        POLYCHRON_UNROLLED_LOOP
        for (std::size_t y = 0; y < Rows; ++y) {
          if (r < y * StrideY || r - y * StrideY >= Window) continue;
          POLYCHRON_UNROLLED_LOOP
          for (std::size_t p = 0; p < Pixels; ++p) {
            if (c < p * StrideX || c - p * StrideX >= Window) continue;
            sums[y][p] = hn::MulAdd(pixel, weights[y][c - p * StrideX], sums[y][p]);
          }
        }
      }
    }
    const std::size_t offset = group * Pixels * block_floats;
    if (rows.added == nullptr)
      store<false, Rows, Pixels>(rows, offset, sums);
    else
      store<true, Rows, Pixels>(rows, offset, sums);
    picture += Pixels * StrideX * block_floats;
    first -= std::ptrdiff_t{Pixels * StrideX};
    last -= std::ptrdiff_t{Pixels * StrideX};
  }
}

using Multiply = void (*)(const DepthwiseRows&);
using ForPixels = std::array<Multiply, most_pixels>;
using ForRows = std::array<ForPixels, most_rows_of_tile>;
using ForStrides = std::array<ForRows, 4>;

template <std::size_t Window, std::size_t StrideY, std::size_t StrideX, std::size_t Rows,
          std::size_t... Pixels>
constexpr ForPixels for_pixels(std::index_sequence<Pixels...>) {
  return {multiply<Window, StrideY, StrideX, Rows, Pixels + 1>...};
}

template <std::size_t Window, std::size_t StrideY, std::size_t StrideX, std::size_t... Rows>
constexpr ForRows for_rows(std::index_sequence<Rows...>) {
  return {
      for_pixels<Window, StrideY, StrideX, Rows + 1>(std::make_index_sequence<most_pixels>())...};
}

template <std::size_t Window>
constexpr ForStrides for_strides() {
  constexpr std::make_index_sequence<most_rows_of_tile> rows;
  return {for_rows<Window, 1, 1>(rows), for_rows<Window, 1, 2>(rows), for_rows<Window, 2, 1>(rows),
          for_rows<Window, 2, 2>(rows)};
}

void multiply_any_depthwise(const DepthwiseWindow& window, std::size_t count, std::size_t pixels,
                            const DepthwiseRows& rows) {
  static constexpr std::array<ForStrides, 2> ways{for_strides<3>(), for_strides<5>()};
  const ForStrides& strides = ways[window.size / 2 - 1];
  const Multiply way =
      strides[(window.stride_y - 1) * 2 + window.stride_x - 1][count - 1][pixels - 1];
  DepthwiseRows part = rows;
  for (std::size_t vector = 0; vector < vectors_of_block; ++vector) {
    way(part);
    part.picture += lanes;
    part.filter += lanes;
    part.result += lanes;
    if (part.added != nullptr) part.added += lanes;
    const std::size_t done = std::min(part.channels, lanes);
    if (part.bias != nullptr) part.bias += done;
    part.channels -= done;
  }
}

#else

void multiply_any_depthwise(const DepthwiseWindow&, std::size_t, std::size_t,
                            const DepthwiseRows&) {}

#endif

}  // namespace polychron::kernels::direct::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace polychron::kernels::direct {
namespace {

HWY_EXPORT(depthwise_tile);
HWY_EXPORT(multiply_any_depthwise);

}  // namespace

const DepthwiseTile& DepthwiseTile::get() {
  static const DepthwiseTile tile = [] {
    kernels::vectors();  // limits Highway's choice
    return HWY_DYNAMIC_DISPATCH(depthwise_tile)();
  }();
  return tile;
}

void multiply_depthwise(const DepthwiseWindow& window, std::size_t count, std::size_t pixels,
                        const DepthwiseRows& rows) {
  HWY_DYNAMIC_DISPATCH(multiply_any_depthwise)(window, count, pixels, rows);
}

}  // namespace polychron::kernels::direct
#endif
