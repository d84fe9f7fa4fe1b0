// quantizeLinear and dequantizeLinear.
#include "ops/call.hpp"
#include "ops/dimensions.hpp"
#include "ops/shape_rules.hpp"

namespace polychron::ops {

std::vector<Shape> blockwise_shape(const Call& call) {
  const Shape& input = call.shape(0);
  const Shape& scale = call.shape(1);
  if (!blockwise_broadcastable(scale, input))
    call.fail(call.name(1) + " has shape " + to_string(scale) +
              ", expected the rank of operand 'input', " + to_string(input) +
              ", and dimensions that divide its");
  call.expect_shape(2, scale);
  return {input};
}

}  // namespace polychron::ops
