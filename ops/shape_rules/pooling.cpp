// Pooling: all three operators.
#include "ops/shape_rules.hpp"
#include "ops/shape_rules/window.hpp"

namespace polychron::ops {

// As in the public test suite, padding counts also when outputSizes is given, and outputSizes need
// not be less than the strides.
std::vector<Shape> pool2d_shape(const Call& call) {
  const auto& attributes = call.attributes<Pool2dAttributes>();
  expect_window(call, attributes);
  Image image(call.shape(0), attributes.layout);
  const Sizes window = attributes.window_dimensions.value_or(Sizes{image.height, image.width});
  call.expect_length(window, 2, "windowDimensions");
  call.expect_positive(window, "windowDimensions");
  std::array<std::uint32_t, 2> floors{};
  std::array<std::uint32_t, 2> ceilings{};
  for (std::size_t i = 0; i < 2; ++i) {
    if (is_symbol(image.size(i))) {
      // A window over all of a dimension leaves one element, whatever the size.
      const bool whole = window[i] == image.size(i) && attributes.dilations[i] == 1 &&
                         both_paddings(attributes.padding, i) == 0;
      floors[i] = ceilings[i] = whole ? 1 : derived;
      continue;
    }
    const auto range = window_range(call, attributes, image.size(i), window[i], i);
    const auto stride = attributes.strides[i];
    floors[i] = call.expect_dimension(range / stride + 1, size_names[i]);
    ceilings[i] = call.expect_dimension((range + stride - 1) / stride + 1, size_names[i]);
  }
  auto sizes = attributes.output_shape_rounding == RoundingType::floor ? floors : ceilings;
  if (attributes.output_sizes) {
    call.expect_length(*attributes.output_sizes, 2, "outputSizes");
    sizes = {(*attributes.output_sizes)[0], (*attributes.output_sizes)[1]};
    const auto refused = [&](const auto& expected) {
      return differ(sizes[0], expected[0]) || differ(sizes[1], expected[1]);
    };
    if (refused(floors) && refused(ceilings))
      call.fail("outputSizes is " + to_string(*attributes.output_sizes) + ", expected " +
                to_string(Shape(floors.begin(), floors.end())) + " or " +
                to_string(Shape(ceilings.begin(), ceilings.end())));
  }
  std::tie(image.height, image.width) = std::tie(sizes[0], sizes[1]);
  return {image.shape(attributes.layout)};
}

}  // namespace polychron::ops
