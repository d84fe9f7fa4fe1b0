// Element-wise operators.
#include "ops/call.hpp"
#include "ops/dimensions.hpp"
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

DataType cast_type(const Attributes& attributes) {
  return std::get<CastAttributes>(attributes).data_type;
}

}  // namespace polychron::ops
