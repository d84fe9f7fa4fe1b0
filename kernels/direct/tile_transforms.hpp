// The transforms of minimal filtering (Winograd 1980; Lavin and Gray 2015) for windows of 3, along
// one dimension: of a tile's numbers, of the filter's, and back.
//
// F(2x2, 3x3) evaluates at 0, 1, -1 and infinity; F(4x4, 3x3) at 0, +-11/16, +-11/8 and infinity.
// With the usual points 1 and 2 the rounding errors of the latter are three to five times as large.
// The reason is that points far from 1 spread the magnitudes of a tile's numbers. All constants of
// these points are exact in float32, except those of the filter, which is transformed in double
// precision.
#pragma once

#include <array>

#include "kernels/direct/avx512.hpp"

#ifdef POLYCHRON_WIDE

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

  /// Reads each `step`-th vector from `from`.
  [[POLYCHRON_WIDE]] static void input(const Wide* from, Wide* to, std::size_t step) {
    const Wide d0 = from[0], d1 = from[step], d2 = from[2 * step], d3 = from[3 * step];
    to[0] = _mm512_sub_ps(d2, d0);
    to[step] = _mm512_add_ps(d2, d1);
    to[2 * step] = _mm512_sub_ps(d2, d1);
    to[3 * step] = _mm512_sub_ps(d3, d1);
  }

  [[POLYCHRON_WIDE]] static void output(const Wide* from, std::size_t from_step, Wide* to,
                                        std::size_t to_step) {
    const Wide m1 = from[from_step], m2 = from[2 * from_step];
    to[0] = _mm512_add_ps(from[0], _mm512_add_ps(m1, m2));
    to[to_step] = _mm512_add_ps(_mm512_sub_ps(m1, m2), from[3 * from_step]);
  }

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

  [[POLYCHRON_WIDE]] static void input(const Wide* from, Wide* to, std::size_t step) {
    const Wide d0 = from[0], d1 = from[step], d2 = from[2 * step], d3 = from[3 * step],
               d4 = from[4 * step], d5 = from[5 * step];
    // The coefficients of (x^2 - a^2)(x^2 - b^2), once without and once with a factor x.
    to[0] = plus(a2 * b2, d0, plus(-(a2 + b2), d2, d4));
    to[5 * step] = plus(a2 * b2, d1, plus(-(a2 + b2), d3, d5));
    // The polynomials without one root are the sums and differences of an even and an odd part.
    const Wide even_a = plus(-b2, d2, d4), odd_a = times(a, plus(-b2, d1, d3));
    to[step] = _mm512_add_ps(even_a, odd_a);
    to[2 * step] = _mm512_sub_ps(even_a, odd_a);
    const Wide even_b = plus(-a2, d2, d4), odd_b = times(b, plus(-a2, d1, d3));
    to[3 * step] = _mm512_add_ps(even_b, odd_b);
    to[4 * step] = _mm512_sub_ps(even_b, odd_b);
  }

  [[POLYCHRON_WIDE]] static void output(const Wide* from, std::size_t from_step, Wide* to,
                                        std::size_t to_step) {
    const Wide m1 = from[from_step], m2 = from[2 * from_step], m3 = from[3 * from_step],
               m4 = from[4 * from_step];
    const Wide even_a = _mm512_add_ps(m1, m2), odd_a = _mm512_sub_ps(m1, m2);
    const Wide even_b = _mm512_add_ps(m3, m4), odd_b = _mm512_sub_ps(m3, m4);
    to[0] = _mm512_add_ps(from[0], _mm512_add_ps(even_a, even_b));
    to[to_step] = plus(a, odd_a, times(b, odd_b));
    to[2 * to_step] = plus(a2, even_a, times(b2, even_b));
    to[3 * to_step] = plus(a2 * a, odd_a, plus(b2 * b, odd_b, from[5 * from_step]));
  }

  static std::array<double, size> filter(double g0, double g1, double g2) {
    const double at_a = 1 / (2 * a2 * (a2 - b2)), at_b = 1 / (2 * b2 * (b2 - a2));
    return {g0 / (a2 * b2),
            at_a * (g0 + a * g1 + a2 * g2),
            at_a * (g0 - a * g1 + a2 * g2),
            at_b * (g0 + b * g1 + b2 * g2),
            at_b * (g0 - b * g1 + b2 * g2),
            g2};
  }

 private:
  [[POLYCHRON_WIDE]] static Wide times(double factor, Wide x) {
    return _mm512_mul_ps(_mm512_set1_ps(static_cast<float>(factor)), x);
  }
  /// factor * x + y
  [[POLYCHRON_WIDE]] static Wide plus(double factor, Wide x, Wide y) {
    return _mm512_fmadd_ps(_mm512_set1_ps(static_cast<float>(factor)), x, y);
  }
};

}  // namespace polychron::kernels::direct

#endif
