// Reductions.
#include <algorithm>

#include "ops/call.hpp"
#include "ops/shape_rules.hpp"

namespace polychron::ops {

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
