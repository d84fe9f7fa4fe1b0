// The transforms of minimal filtering (Winograd 1980; Lavin and Gray 2015) for windows of 3, along
// one dimension: their constants, and that of the filter. Those of tiles are in
// kernels/direct/filtered_tiles.cpp.
//
// F(2x2, 3x3) evaluates at 0, 1, -1 and infinity; F(4x4, 3x3) at 0, +-11/16, +-11/8 and infinity.
// With the usual points 1 and 2 the rounding errors of the latter are three to five times as large.
// The reason is that points far from 1 spread the magnitudes of a tile's numbers. All constants of
// these points are exact in float32, except those of the filter, which is transformed in double
// precision.
#pragma once

#include <array>
#include <cstddef>

namespace polychron::kernels::direct {

/// The transform of a tile with `Results` results along one dimension.
template <std::size_t Results>
struct TileTransform;

template <>
struct TileTransform<2> {
  static constexpr std::size_t size = 4;
  /// Below this, sums of transformed products stay finite. No result depends on numbers outside of
  /// its window.
  static constexpr float ordinary_limit = 0x1p48F;

  static std::array<double, size> filter(double g0, double g1, double g2) {
    return {-g0, (g0 + g1 + g2) / 2, (g0 - g1 + g2) / 2, g2};
  }
};

template <>
struct TileTransform<4> {
  static constexpr std::size_t size = 6;
  /// Each result depends on the whole tile. Numbers outside of its window cancel out except for
  /// their rounding. Beside a number of 10,000, results of 0.3 were off by 6e-4; beside one of
  /// 10^9, by 20.
  static constexpr float ordinary_limit = 0x1p12F;
  static constexpr double a = 11.0 / 16, b = 11.0 / 8;
  static constexpr double a2 = a * a, b2 = b * b;

  static std::array<double, size> filter(double g0, double g1, double g2) {
    const double at_a = 1 / (2 * a2 * (a2 - b2)), at_b = 1 / (2 * b2 * (b2 - a2));
    return {g0 / (a2 * b2),
            at_a * (g0 + a * g1 + a2 * g2),
            at_a * (g0 - a * g1 + a2 * g2),
            at_b * (g0 + b * g1 + b2 * g2),
            at_b * (g0 - b * g1 + b2 * g2),
            g2};
  }
};

}  // namespace polychron::kernels::direct
