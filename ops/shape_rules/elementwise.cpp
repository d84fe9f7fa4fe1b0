// Element-wise operators, activations, softmax.
#include "ops/call.hpp"
#include "ops/dimensions.hpp"
#include "ops/number.hpp"
#include "ops/shape_rules.hpp"

namespace polychron::ops {

std::vector<Shape> same_shape(const Call& call) { return {call.shape(0)}; }

std::vector<Shape> broadcast_shape(const Call& call) {
  Shape result = call.shape(0);
  for (std::size_t i = 1; i < call.size(); ++i) {
    auto shape = broadcast(result, call.shape(i));
    if (!shape)
      call.fail(call.name(i) + " has shape " + to_string(call.shape(i)) +
                ", expected one that broadcasts with " + to_string(result));
    result = std::move(*shape);
  }
  return {result};
}

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

DataType cast_type(const Attributes& attributes) {
  return std::get<CastAttributes>(attributes).data_type;
}

}  // namespace polychron::ops
