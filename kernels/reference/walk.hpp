// Walking over tensors of any rank without allocating: strides on the stack and an odometer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "polychron/descriptor.hpp"

namespace polychron::kernels::reference {

/// Elements between neighbours along each dimension; 0 repeats.
using Strides = std::array<std::int64_t, max_rank>;

/// Row-major strides of `shape`.
inline Strides strides_of(const Shape& shape) {
  Strides strides{};
  std::int64_t step = 1;
  for (std::size_t i = shape.size(); i-- > 0; step *= shape[i]) strides[i] = step;
  return strides;
}

/// Strides that read `from` as if it were broadcast to `to` (unidirectionally).
inline Strides broadcast_strides(const Shape& from, const Shape& to) {
  const Strides own = strides_of(from);
  Strides strides{};
  const std::size_t shift = to.size() - from.size();
  for (std::size_t i = 0; i < from.size(); ++i) strides[i + shift] = from[i] == 1 ? 0 : own[i];
  return strides;
}

inline std::int64_t count_of(std::span<const std::uint32_t> shape) {
  std::int64_t count = 1;
  for (const auto dimension : shape) count *= dimension;
  return count;
}

/// Calls `f(offsets, coordinates)` for each index of `shape` in row-major order; offsets[k] is
/// the sum of coordinates times strides[k].
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
