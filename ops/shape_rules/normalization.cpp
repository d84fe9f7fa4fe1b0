// Normalization by mean and variance.
#include <algorithm>
#include <numeric>

#include "ops/call.hpp"
#include "ops/layouts.hpp"
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
  const auto channels = call.shape(0)[picture_axes(layout)[1]];
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

}  // namespace polychron::ops
