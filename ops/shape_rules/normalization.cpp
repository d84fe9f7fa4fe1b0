// Normalisations and reductions.
#include <algorithm>
#include <numeric>

#include "ops/call.hpp"
#include "ops/shape_rules.hpp"

namespace polychron::ops {

std::vector<Shape> batch_normalization_shape(const Call& call) {
  const auto axis = call.attributes<BatchNormalizationAttributes>().axis;
  call.expect_axis(axis, call.shape(0).size());
  for (std::size_t i = 1; i < call.size(); ++i)
    if (call.has(i)) call.expect_shape(i, {call.shape(0)[axis]});
  return {call.shape(0)};
}

std::vector<Shape> instance_normalization_shape(const Call& call) {
  const auto layout = call.attributes<InstanceNormalizationAttributes>().layout;
  const auto channels = call.shape(0)[layout == InputOperandLayout::nchw ? 1 : 3];
  for (std::size_t i = 1; i < call.size(); ++i)
    if (call.has(i)) call.expect_shape(i, {channels});
  return {call.shape(0)};
}

std::vector<Shape> layer_normalization_shape(const Call& call) {
  const Shape& input = call.shape(0);
  const auto& axes = call.attributes<LayerNormalizationAttributes>().axes;
  Shape expected;
  if (axes) {
    call.expect_axes(*axes, input.size(), "axes");
    for (const auto axis : *axes) expected.push_back(input[axis]);
  } else if (!input.empty()) {
    expected.assign(input.begin() + 1, input.end());
  }
  for (std::size_t i = 1; i < call.size(); ++i)
    if (call.has(i)) call.expect_shape(i, expected);
  return {input};
}

std::vector<Shape> reduce_shape(const Call& call) {
  const auto& [axes, keep_dimensions] = call.attributes<ReduceAttributes>();
  const Shape& input = call.shape(0);
  if (axes) call.expect_axes(*axes, input.size(), "axes");
  Shape result;
  for (std::uint32_t i = 0; i < input.size(); ++i) {
    const bool reduced = !axes || std::ranges::find(*axes, i) != axes->end();
    if (!reduced)
      result.push_back(input[i]);
    else if (keep_dimensions)
      result.push_back(1);
  }
  return {result};
}

}  // namespace polychron::ops
