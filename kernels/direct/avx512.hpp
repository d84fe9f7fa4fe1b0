// AVX-512 intrinsics for kernels whose loops no compiler vectorizes well. POLYCHRON_WIDE marks a
// function. Its loops may call only functions that it marks, too. A caller must have asked
// has_avx512().
#pragma once

#include "kernels/vectors.hpp"

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

#define POLYCHRON_WIDE gnu::target("avx512f,avx512bw,avx512dq,avx512vl,fma")

namespace polychron::kernels::direct {

using Wide = __m512;
inline constexpr std::size_t wide_floats = 16;

/// The mask of vector number `vector` of a row: a bit for each element among the first `count`.
[[gnu::always_inline]] inline __mmask16 present(std::size_t count, std::size_t vector) {
  const std::size_t before = vector * wide_floats;
  const std::size_t rest = count > before ? count - before : 0;
  return static_cast<__mmask16>(rest < wide_floats ? (1U << rest) - 1 : 0xffffU);
}

}  // namespace polychron::kernels::direct

#endif
