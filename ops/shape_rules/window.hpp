// Windows that move over pictures, for convolution and pooling.
//
// Sizes are computed in 64 bits: every product of two 32-bit numbers fits, and sums that might
// overflow are compared first.
#pragma once

#include <array>
#include <string>
#include <tuple>

#include "ops/call.hpp"
#include "ops/dimensions.hpp"
#include "ops/layouts.hpp"

namespace polychron::ops {

using Sizes = std::vector<std::uint32_t>;

/// The dimensions of an input of rank 4, by its layout.
struct Image {
  std::uint32_t batches, channels, height, width;

  Image(const Shape& shape, InputOperandLayout layout) {
    const auto [n, c, h, w] = picture_axes(layout);
    batches = shape[n], channels = shape[c], height = shape[h], width = shape[w];
  }

  std::uint32_t size(std::size_t axis) const { return axis == 0 ? height : width; }

  Shape shape(InputOperandLayout layout) const {
    const auto [n, c, h, w] = picture_axes(layout);
    Shape shape(4);
    shape[n] = batches, shape[c] = channels, shape[h] = height, shape[w] = width;
    return shape;
  }
};

inline constexpr std::array<std::string_view, 2> size_names{"the result's height",
                                                            "the result's width"};

template <class A>
void expect_window(const Call& call, const A& attributes) {
  call.expect_length(attributes.padding, 4, "padding");
  call.expect_length(attributes.strides, 2, "strides");
  call.expect_positive(attributes.strides, "strides");
  call.expect_length(attributes.dilations, 2, "dilations");
  call.expect_positive(attributes.dilations, "dilations");
}

/// The extent of a dilated window of `size`.
inline std::uint64_t effective_size(std::uint32_t size, std::uint32_t dilation) {
  return (std::uint64_t{size} - 1) * dilation + 1;
}

inline std::uint64_t both_paddings(const Sizes& padding, std::size_t axis) {
  return std::uint64_t{padding[axis * 2]} + padding[axis * 2 + 1];
}

/// The number of window positions along an axis after the first, times the stride.
template <class A>
std::uint64_t window_range(const Call& call, const A& attributes, std::uint32_t input,
                           std::uint32_t window, std::size_t axis) {
  const auto padded = input + both_paddings(attributes.padding, axis);
  const auto effective = effective_size(window, attributes.dilations[axis]);
  if (effective > padded)
    call.fail("the window reaches over " + std::to_string(effective) +
              " elements with its dilation, expected at most " + std::to_string(padded) +
              ", the input's with its padding, for " + std::string(size_names[axis]));
  return padded - effective;
}

}  // namespace polychron::ops
