// resample2d.
#include <algorithm>
#include <cmath>

#include "ops/call.hpp"
#include "ops/dimensions.hpp"
#include "ops/shape_rules.hpp"

namespace polychron::ops {

std::vector<Shape> resample2d_shape(const Call& call) {
  const auto& attributes = call.attributes<Resample2dAttributes>();
  if (attributes.scales.size() != 2)
    call.fail("scales has " + std::to_string(attributes.scales.size()) + " entries, expected 2");
  for (const float scale : attributes.scales)
    if (scale <= 0) call.fail("scales has " + std::to_string(scale) + ", expected numbers above 0");
  call.expect_length(attributes.axes, 2, "axes");
  call.expect_axes(attributes.axes, call.shape(0).size(), "axes");
  if (attributes.sizes) {
    call.expect_length(*attributes.sizes, 2, "sizes");
    call.expect_positive(*attributes.sizes, "sizes");
  }
  Shape result = call.shape(0);
  for (std::size_t i = 0; i < 2; ++i) {
    auto& size = result[attributes.axes[i]];
    if (attributes.sizes) {
      size = (*attributes.sizes)[i];
      continue;
    }
    if (is_symbol(size)) {
      if (attributes.scales[i] != 1) size = derived;
      continue;
    }
    const double scaled = std::floor(size * static_cast<double>(attributes.scales[i]));
    // Any size beyond 32 bits is too large; the minimum keeps the cast of the double in range.
    size = call.expect_dimension(static_cast<std::uint64_t>(std::min(scaled, 0x1p32)),
                                 "a dimension of the result");
  }
  return {result};
}

}  // namespace polychron::ops
