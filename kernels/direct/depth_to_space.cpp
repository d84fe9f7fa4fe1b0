// Turns channels into pixels. It follows the 1x1 convolution that replaces a transposed convolution
// whose stride equals its window, with one group of channels for each tap.
#include <algorithm>

#include "kernels/direct/direct.hpp"
#include "kernels/function_kernel.hpp"

namespace polychron::kernels::direct {
namespace {

/// The extents that the loops need. The input has taps * stride_c channels in blocks.
struct BlockExtents {
  std::size_t batch, channels, height, width;  ///< of the result
  std::size_t rows, columns;                   ///< pixels that one input pixel becomes
  std::size_t tap_channels;                    ///< channels of the input from tap to tap
  std::size_t in_blocks, block;
};

/// Copies `count` channels of a pixel and fills the rest of the block with zeros.
void copy_block(const float* from, float* to, std::size_t count, std::size_t block) {
  std::copy_n(from, count, to);
  std::fill(to + count, to + block, 0.0F);
}

void to_blocks(const BlockExtents& e, const float* in, float* out) {
  const std::size_t blocks = (e.channels + e.block - 1) / e.block;
  const std::size_t in_h = e.height / e.rows, in_w = e.width / e.columns;
  for (std::size_t n = 0; n < e.batch; ++n)
    for (std::size_t b = 0; b < blocks; ++b)
      for (std::size_t y = 0; y < e.height; ++y)
        for (std::size_t dx = 0; dx < e.columns; ++dx) {
          const std::size_t tap = y % e.rows * e.columns + dx;
          const std::size_t plane = n * e.in_blocks + tap * e.tap_channels / e.block + b;
          const float* from = in + (plane * in_h + y / e.rows) * in_w * e.block;
          float* to = out + (((n * blocks + b) * e.height + y) * e.width + dx) * e.block;
          const std::size_t count = std::min(e.block, e.channels - b * e.block);
          for (std::size_t x = 0; x < in_w; ++x)
            copy_block(from + x * e.block, to + x * e.columns * e.block, count, e.block);
        }
}

void to_plain(const BlockExtents& e, const float* in, float* out) {
  const std::size_t in_h = e.height / e.rows, in_w = e.width / e.columns;
  for (std::size_t n = 0; n < e.batch; ++n)
    for (std::size_t c = 0; c < e.channels; ++c)
      for (std::size_t y = 0; y < e.height; ++y)
        for (std::size_t dx = 0; dx < e.columns; ++dx) {
          const std::size_t from_c = (y % e.rows * e.columns + dx) * e.tap_channels + c;
          const std::size_t plane = n * e.in_blocks + from_c / e.block;
          const float* from = in + (plane * in_h + y / e.rows) * in_w * e.block + from_c % e.block;
          float* to = out + ((n * e.channels + c) * e.height + y) * e.width + dx;
          for (std::size_t x = 0; x < in_w; ++x) to[x * e.columns] = from[x * e.block];
        }
}

}  // namespace

KernelResult prepare_depth_to_space(const Problem& problem) {
  const Slot& in = problem.inputs[0];
  const Slot& out = problem.outputs[0];
  const Shape& from = in.descriptor.shape;
  const Shape& to = out.descriptor.shape;
  BlockExtents e{
      to[0], to[1], to[2], to[3], to[2] / from[2], to[3] / from[3], 0, 0, channel_block(in.layout)};
  e.tap_channels = from[1] / (e.rows * e.columns);
  e.in_blocks = (from[1] + e.block - 1) / e.block;
  if (!problem.post_ops.empty()) return refuse("no post-operations");
  const bool plain = out.layout == Layout::plain;
  if (!plain && (out.layout != in.layout || e.tap_channels % e.block != 0))
    return refuse("blocks to blocks of whole taps, or to plain");
  return make_kernel([e, plain](const Arguments& arguments) {
    const auto* source = reinterpret_cast<const float*>(arguments.inputs[0]);
    auto* target = reinterpret_cast<float*>(arguments.outputs[0]);
    if (plain)
      to_plain(e, source, target);
    else
      to_blocks(e, source, target);
  });
}

}  // namespace polychron::kernels::direct
