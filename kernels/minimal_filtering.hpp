// Which convolutions gain by minimal filtering (Winograd's; Lavin and Gray 2015): who computes and
// who cuts them agree on it.
#pragma once

#include <algorithm>

#include "kernels/problem.hpp"

namespace polychron::kernels {

/// Those of 3x3 side by side, with many channels and pixels. Of few channels the tiles are most of
/// the work; of few pixels it is the filters' way from memory, which takes nearly twice as long
/// (512 channels of 7 x 7: 0.99 ms in two parts, 1.65 the plain way; oneDNN 2.6, AVX-512).
inline bool suits_minimal_filtering(const Problem& problem) {
  const auto* const a = std::get_if<Conv2dAttributes>(&problem.attributes);
  if (a == nullptr || a->groups != 1 || a->input_layout != InputOperandLayout::nchw ||
      a->filter_layout != Conv2dFilterOperandLayout::oihw)
    return false;
  const auto is_one = [](std::uint32_t n) { return n == 1; };
  if (!std::ranges::all_of(a->strides, is_one) || !std::ranges::all_of(a->dilations, is_one) ||
      std::ranges::any_of(a->padding, [](std::uint32_t p) { return p > 1; }))
    return false;
  if (a->padding[0] != a->padding[1] || a->padding[2] != a->padding[3]) return false;
  // An operand of a post-operation may be overwritten, and then there is no second try.
  if (!problem.inputs[1].constant || problem.inputs.size() > problem.own_inputs) return false;
  const Shape& filter = problem.inputs[1].descriptor.shape;
  const Shape& out = problem.outputs[0].descriptor.shape;
  return filter[0] >= 16 && filter[1] >= 16 && filter[2] == 3 && filter[3] == 3 &&
         out[2] * out[3] >= 49;
}

/// Channels of the result that such a kernel best computes together: with fewer the tiles of the
/// input, which each part makes for itself, take too long (256 channels of 14 x 14 pixels: 0.43 ms
/// in two parts, 0.73 in four, 0.93 the plain way; oneDNN 2.6, AVX-512).
inline std::size_t minimal_filtering_channels(std::size_t channels) {
  return channels < 64 ? 16 : (channels / 2 + 15) / 16 * 16;
}

}  // namespace polychron::kernels
