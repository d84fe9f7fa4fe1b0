// Functions of AVX-512's vectors, for kernels whose loops no compiler makes vectors of as they
// should be. A function is marked by POLYCHRON_WIDE and calls none of other instructions in its
// loops; who calls it has asked has_avx512().
#pragma once

#include "kernels/vectors.hpp"

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

#define POLYCHRON_WIDE gnu::target("avx512f,avx512bw,avx512dq,avx512vl,fma")
/// Before a loop of a constant number of steps, at most 32: no loop is left of it; or all of it is,
/// where the compiler would keep more of several steps than there are registers for.
#if defined(__clang__)
#define POLYCHRON_UNROLLED _Pragma("unroll")
#define POLYCHRON_NOT_UNROLLED _Pragma("nounroll")
#else
#define POLYCHRON_UNROLLED _Pragma("GCC unroll 32")
#define POLYCHRON_NOT_UNROLLED _Pragma("GCC unroll 1")
#endif

namespace polychron::kernels::direct {

using Wide = __m512;
inline constexpr std::size_t wide_floats = 16;

/// Of a row's vectors the one of this number: a bit for each of its elements that is one of the
/// first `count` of the row.
[[gnu::always_inline]] inline __mmask16 present(std::size_t count, std::size_t vector) {
  const std::size_t before = vector * wide_floats;
  const std::size_t rest = count > before ? count - before : 0;
  return static_cast<__mmask16>(rest < wide_floats ? (1U << rest) - 1 : 0xffffU);
}

}  // namespace polychron::kernels::direct

#endif
