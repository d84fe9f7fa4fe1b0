// Strides of row-major tensors, also when they are broadcast to the shape of another one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "polychron/descriptor.hpp"

namespace polychron::kernels {

/// Elements between neighbours along each dimension; 0 repeats the same element.
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

}  // namespace polychron::kernels
