// The dimensions of pictures and filters, independent of their layout attributes.
#pragma once

#include "kernels/reference/walk.hpp"
#include "ops/layouts.hpp"

namespace polychron::kernels::reference {

/// A tensor of rank 4 with four named dimensions, their extents and strides. In pictures the first
/// two are batch and channels, in filters outputs and inputs.
struct Image {
  std::int64_t n = 0, c = 0, h = 0, w = 0;
  std::int64_t n_step = 0, c_step = 0, h_step = 0, w_step = 0;

  std::int64_t at(std::int64_t i, std::int64_t j, std::int64_t y, std::int64_t x) const {
    return i * n_step + j * c_step + y * h_step + x * w_step;
  }
};

/// `order` holds the positions of the four dimensions in `shape`.
inline Image image_of(const Shape& shape, const ops::Axes& order) {
  const Strides strides = strides_of(shape);
  const auto [n, c, h, w] = order;
  return {shape[n], shape[c], shape[h], shape[w], strides[n], strides[c], strides[h], strides[w]};
}

inline Image image_of(const Shape& shape, InputOperandLayout layout) {
  return image_of(shape, ops::picture_axes(layout));
}

inline Image image_of(const Shape& shape, Conv2dFilterOperandLayout layout) {
  return image_of(shape, ops::filter_axes(layout));
}

/// `n` is the inputs, and `c` the outputs of a group.
inline Image image_of(const Shape& shape, ConvTranspose2dFilterOperandLayout layout) {
  const auto [o, i, h, w] = ops::filter_axes(layout);
  return image_of(shape, ops::Axes{i, o, h, w});
}

}  // namespace polychron::kernels::reference
