// clamp and softmax; the other activations keep their shape.
#include "ops/call.hpp"
#include "ops/number.hpp"
#include "ops/shape_rules.hpp"

namespace polychron::ops {

std::vector<Shape> clamp_shape(const Call& call) {
  const auto& [min_value, max_value] = call.attributes<ClampAttributes>();
  const auto type = call.operand(0).data_type;
  if (min_value && max_value && greater(cast(*min_value, type), cast(*max_value, type)))
    call.fail("minValue is greater than maxValue, expected at most as much");
  return same_shape(call);
}

std::vector<Shape> softmax_shape(const Call& call) {
  call.expect_axis(call.attributes<SoftmaxAttributes>().axis, call.shape(0).size());
  return same_shape(call);
}

}  // namespace polychron::ops
