// gelu in vectors, for the epilogues of our own loops.
#pragma once

#include <array>

#include "kernels/direct/avx512.hpp"

#ifdef POLYCHRON_WIDE

namespace polychron::kernels::direct {

/// The normal distribution's tail, 1 - cdf(x) for x >= 0, as polynomials of the fifth degree on 16
/// intervals. One vector has the coefficients of a power for all intervals. The error is at most
/// 4.1e-8, as large as the rounding of floats. 0 from `end` on, where the tail is 1e-9.
struct NormalTail {
  static constexpr float end = 6;
  static constexpr std::size_t stretches = wide_floats, powers = 6;
  alignas(64) std::array<std::array<float, stretches>, powers> factors;

  /// Computed on first use. Thread-safe.
  static const NormalTail& get();
};

/// x * cdf(x) = 0.5 * x * (1 + erf(x / sqrt(2))). -infinity becomes NaN, as in that formula.
[[gnu::always_inline, POLYCHRON_WIDE]] inline Wide gelu(const NormalTail& tail, Wide x) {
  constexpr float per_stretch = NormalTail::stretches / NormalTail::end;
  const Wide at = _mm512_mul_ps(_mm512_abs_ps(x), _mm512_set1_ps(per_stretch));
  const __mmask16 inside =
      _mm512_cmp_ps_mask(at, _mm512_set1_ps(NormalTail::stretches), _CMP_LT_OQ);
  const __m512i stretch = _mm512_cvttps_epi32(at);
  const Wide t = _mm512_sub_ps(at, _mm512_cvtepi32_ps(stretch));
  Wide sum = _mm512_permutexvar_ps(stretch, _mm512_load_ps(tail.factors.back().data()));
  POLYCHRON_UNROLLED
  for (std::size_t power = NormalTail::powers - 1; power-- > 0;)
    sum = _mm512_fmadd_ps(
        sum, t, _mm512_permutexvar_ps(stretch, _mm512_load_ps(tail.factors[power].data())));
  sum = _mm512_maskz_mov_ps(inside, sum);
  const __mmask16 negative = _mm512_cmp_ps_mask(x, _mm512_setzero_ps(), _CMP_LT_OQ);
  const Wide below =
      _mm512_mask_sub_ps(sum, static_cast<__mmask16>(~negative), _mm512_set1_ps(1), sum);
  return _mm512_mul_ps(x, below);
}

}  // namespace polychron::kernels::direct

#endif
