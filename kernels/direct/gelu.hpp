// The normal distribution's tail, for gelu in the epilogues of our own loops.
#pragma once

#include <array>
#include <cstddef>

namespace polychron::kernels::direct {

/// 1 - cdf(x) for x >= 0, as polynomials of the fifth degree on 16 intervals. The row of a power
/// has its coefficient for each interval. The error is at most 4.1e-8, as large as the rounding of
/// floats. 0 from `end` on, where the tail is 1e-9.
struct NormalTail {
  static constexpr float end = 6;
  static constexpr std::size_t stretches = 16, powers = 6;
  alignas(64) std::array<std::array<float, stretches>, powers> factors;

  /// Computed on first use. Thread-safe.
  static const NormalTail& get();
};

}  // namespace polychron::kernels::direct
