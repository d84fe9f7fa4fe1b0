// Walks over tensors of any rank, one element at a time, without allocating: an odometer.
#pragma once

#include "kernels/strides.hpp"

namespace polychron::kernels::reference {

/// Calls `f(offsets, coordinates)` for each index of `shape` in row-major order; offsets[k] is the
/// sum of coordinates times strides[k].
template <std::size_t N, class F>
void for_each(std::span<const std::uint32_t> shape, const std::array<Strides, N>& strides, F&& f) {
  std::array<std::int64_t, N> offsets{};
  std::array<std::uint32_t, max_rank> at{};
  for (;;) {
    f(offsets, at);
    std::size_t i = shape.size();
    for (; i-- > 0;) {
      if (++at[i] < shape[i]) {
        for (std::size_t k = 0; k < N; ++k) offsets[k] += strides[k][i];
        break;
      }
      at[i] = 0;
      for (std::size_t k = 0; k < N; ++k) offsets[k] -= strides[k][i] * (shape[i] - 1);
    }
    if (i == ~std::size_t{0}) return;
  }
}

}  // namespace polychron::kernels::reference
