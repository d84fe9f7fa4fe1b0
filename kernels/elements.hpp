// Elements as bits and as indices: shared by the kernels that move and select elements.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "polychron/descriptor.hpp"

namespace polychron::kernels {

/// Calls `f` with an unsigned integer of `type`'s size, for kernels that only move elements.
template <class F>
void with_size(DataType type, F&& f) {
  switch (byte_size(type)) {
    case 1:
      return f(std::uint8_t{});
    case 2:
      return f(std::uint16_t{});
    case 4:
      return f(std::uint32_t{});
    default:
      return f(std::uint64_t{});
  }
}

/// Calls `f` with a value of `type`, which must be a type that indices may have.
template <class F>
void with_index(DataType type, F&& f) {
  if (type == DataType::int64) return f(std::int64_t{});
  if (type == DataType::uint32) return f(std::uint32_t{});
  f(std::int32_t{});
}

/// Negative indices count from the end. An index out of range becomes the nearest bound.
template <class I>
std::int64_t bounded(I index, std::int64_t extent) {
  const auto wide = static_cast<std::int64_t>(index);
  return std::clamp<std::int64_t>(wide < 0 ? wide + extent : wide, 0, extent - 1);
}

/// A tensor seen around one axis: the number of elements before it, along it and behind it.
struct Around {
  std::size_t outer = 1, extent = 1, inner = 1;
};

inline Around around(const Shape& shape, std::size_t axis) {
  Around seen;
  for (std::size_t i = 0; i < axis; ++i) seen.outer *= shape[i];
  seen.extent = shape[axis];
  for (std::size_t i = axis + 1; i < shape.size(); ++i) seen.inner *= shape[i];
  return seen;
}

}  // namespace polychron::kernels
