// Loops compiled for several instruction sets: AVX-512, AVX2, and the baseline.
#pragma once

#include "kernels/processor.hpp"

/// Before a loop whose steps are independent: no step reads a value that another one writes. (Clang
/// checks this at run time, and would warn about marked loops that it does not vectorize.)
#if defined(__clang__)
#define POLYCHRON_INDEPENDENT_STEPS
#else
#define POLYCHRON_INDEPENDENT_STEPS _Pragma("GCC ivdep")
#endif

/// Before a loop with a constant number of steps, at most 32. UNROLLED_LOOP removes the loop.
/// NOT_UNROLLED keeps it, where several steps at once would need more registers than there are.
#if defined(__clang__)
#define POLYCHRON_UNROLLED_LOOP _Pragma("unroll")
#define POLYCHRON_NOT_UNROLLED _Pragma("nounroll")
#else
#define POLYCHRON_UNROLLED_LOOP _Pragma("GCC unroll 32")
#define POLYCHRON_NOT_UNROLLED _Pragma("GCC unroll 1")
#endif

/// Keeps a vector of Highway in a register, as written. Otherwise g++ (12) adds products to each
/// other before it adds them to sums, and runs out of registers: 8-bit products take twice as long.
/// `sum` is a local variable: an element of an array may lose its register.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define POLYCHRON_KEEP_SUM(sum) asm("" : "+v"((sum).raw))
#else
#define POLYCHRON_KEEP_SUM(sum) static_cast<void>(sum)
#endif

namespace polychron::kernels {

#if defined(__x86_64__) && defined(__GNUC__)

/// True if loops may use AVX-512 and FMA instructions.
inline bool has_avx512() { return vectors() == Vectors::avx512; }

/// Compiles `f`, and everything inlined into it, for these instructions.
template <class F>
[[gnu::flatten, gnu::target("avx512f,avx512bw,avx512dq,avx512vl")]] void with_avx512(const F& f) {
  f();
}
template <class F>
[[gnu::flatten, gnu::target("avx2")]] void with_avx2(const F& f) {
  f();
}

/// Calls `f`, a function of loops, compiled for this processor's vectors. With AVX-512 the compiler
/// may fuse a multiplication and an addition into one instruction with one rounding.
template <class F>
void with_vectors(const F& f) {
  if (has_avx512())
    with_avx512(f);
  else if (vectors() == Vectors::avx2)
    with_avx2(f);
  else
    f();
}

template <class F>
[[gnu::flatten, gnu::target("avx512f,avx512bw,avx512dq,avx512vl,fma")]] void with_fused_avx512(
    const F& f) {
  f();
}
template <class F>
[[gnu::flatten, gnu::target("avx2,fma")]] void with_fused_avx2(const F& f) {
  f();
}

/// True if std::fma() is an instruction that loops may use, also on vectors.
inline bool has_fused_vectors() { return vectors() >= Vectors::avx2; }

/// Calls `f`, a function of loops with std::fma(). Needs has_fused_vectors().
template <class F>
void with_fused_vectors(const F& f) {
  if (has_avx512())
    with_fused_avx512(f);
  else
    with_fused_avx2(f);
}

#else

inline bool has_avx512() { return false; }

template <class F>
void with_vectors(const F& f) {
  f();
}

inline bool has_fused_vectors() {
#if defined(__aarch64__)
  return true;
#else
  return false;
#endif
}

template <class F>
void with_fused_vectors(const F& f) {
  f();
}

#endif

}  // namespace polychron::kernels
