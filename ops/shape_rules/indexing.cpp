// gather.
#include "ops/call.hpp"
#include "ops/shape_rules.hpp"

namespace polychron::ops {

std::vector<Shape> gather_shape(const Call& call) {
  const auto axis = call.attributes<GatherAttributes>().axis;
  const Shape& input = call.shape(0);
  const Shape& indices = call.shape(1);
  call.expect_axis(axis, input.size());
  Shape result(input.begin(), input.begin() + axis);
  result.insert(result.end(), indices.begin(), indices.end());
  result.insert(result.end(), input.begin() + axis + 1, input.end());
  return {result};
}

}  // namespace polychron::ops
