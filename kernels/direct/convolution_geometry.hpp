// The sizes of a convolution of pictures in blocks of channels.
#pragma once

#include "kernels/problem.hpp"
#include "ops/layouts.hpp"

namespace polychron::kernels::direct {

/// A convolution's extents along one dimension.
struct Extent {
  std::size_t in, out, window, stride, dilation, padding;

  /// The position that a window's tap reads for the result at `at`; outside of the picture unless
  /// it is in [0, in).
  std::ptrdiff_t place(std::size_t at, std::size_t tap) const {
    return static_cast<std::ptrdiff_t>(at * stride + tap * dilation) -
           static_cast<std::ptrdiff_t>(padding);
  }
  bool is_pointwise() const { return window == 1 && stride == 1 && padding == 0 && in == out; }
};

struct ConvolutionGeometry {
  std::size_t block;  ///< channels of a block
  std::size_t batch, in_channels, out_channels;
  Extent y, x;

  explicit ConvolutionGeometry(const Problem& problem) {
    const auto& a = std::get<Conv2dAttributes>(problem.attributes);
    const Shape& in = problem.inputs[0].descriptor.shape;
    const Shape& filter = problem.inputs[1].descriptor.shape;
    const Shape& out = problem.outputs[0].descriptor.shape;
    const auto order = ops::filter_axes(a.filter_layout);
    block = channel_block(problem.inputs[0].layout);
    batch = in[0], in_channels = in[1], out_channels = out[1];
    y = {in[2], out[2], filter[order[2]], a.strides[0], a.dilations[0], a.padding[0]};
    x = {in[3], out[3], filter[order[3]], a.strides[1], a.dilations[1], a.padding[2]};
  }

  std::size_t in_blocks() const { return (in_channels + block - 1) / block; }
  std::size_t out_blocks() const { return (out_channels + block - 1) / block; }
  std::size_t taps() const { return y.window * x.window; }
  /// Floats of one block of channels of one picture.
  std::size_t in_plane() const { return y.in * x.in * block; }
  std::size_t out_plane() const { return y.out * x.out * block; }
  std::size_t in_bytes() const { return batch * in_blocks() * in_plane() * sizeof(float); }
};

}  // namespace polychron::kernels::direct
