// e^x in vectors, for our own loops.
#pragma once

#include <numbers>

#include "kernels/direct/avx512.hpp"

#ifdef POLYCHRON_WIDE

namespace polychron::kernels::direct {

/// e^x of numbers that are at most 0, with an error below 2 units in the last place. NaN stays.
/// Below -73, where e^x is 2e-32, the result is 0. Such a weight adds nothing to a softmax, and
/// subnormal products would be slow on some processors. Computed as 2^n times Taylor's polynomial
/// of the seventh degree in the rest r, |r| <= ln(2) / 2; the next power is 6e-9.
[[gnu::always_inline, POLYCHRON_WIDE]] inline Wide exponential_below_one(Wide x) {
  constexpr float lowest = -73;
  constexpr float ln2_high = 0x1.62ep-1F;  // so few bits that n times it is exact
  constexpr auto ln2_low = static_cast<float>(std::numbers::ln2 - double{ln2_high});
  const __mmask16 something = _mm512_cmp_ps_mask(x, _mm512_set1_ps(lowest), _CMP_NLT_UQ);
  const Wide n = _mm512_roundscale_ps(
      _mm512_mul_ps(x, _mm512_set1_ps(std::numbers::log2e_v<float>)), _MM_FROUND_TO_NEAREST_INT);
  Wide r = _mm512_fnmadd_ps(n, _mm512_set1_ps(ln2_high), x);
  r = _mm512_fnmadd_ps(n, _mm512_set1_ps(ln2_low), r);
  constexpr float factors[] = {1.0F / 720, 1.0F / 120, 1.0F / 24, 1.0F / 6, 1.0F / 2, 1, 1};
  Wide power = _mm512_set1_ps(1.0F / 5040);
  POLYCHRON_UNROLLED
  for (const float factor : factors) power = _mm512_fmadd_ps(power, r, _mm512_set1_ps(factor));
  return _mm512_maskz_scalef_ps(something, power, n);
}

}  // namespace polychron::kernels::direct

#endif
