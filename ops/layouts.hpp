// The positions of dimensions in pictures and filters. Only this file knows layouts; it reads them
// from their names: "hwio" has its height first.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "polychron/attribute_fields.hpp"

namespace polychron::ops {

/// The positions of four dimensions in a shape.
using Axes = std::array<std::size_t, 4>;

namespace detail {
template <class L>
constexpr Axes axes_of(L layout, std::string_view dimensions) {
  const std::string_view spelling = spellings<L>[static_cast<std::size_t>(layout)];
  Axes axes{};
  for (std::size_t i = 0; i < axes.size(); ++i) axes[i] = spelling.find(dimensions[i]);
  return axes;
}
}  // namespace detail

/// Batch, channels, height, width.
constexpr Axes picture_axes(InputOperandLayout layout) { return detail::axes_of(layout, "nchw"); }

/// Outputs, inputs, height, width; of a convolution or a transposed one.
template <class L>
constexpr Axes filter_axes(L layout) {
  return detail::axes_of(layout, "oihw");
}

}  // namespace polychron::ops
