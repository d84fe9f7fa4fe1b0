// resample2d: the clauses of the public test suite.
#include "tests/ops/check.hpp"

using namespace polychron;
using namespace polychron::test;

BOOST_AUTO_TEST_SUITE(resampling_rules)

namespace {

using Sizes = std::vector<std::uint32_t>;

Resample2dAttributes scaled(std::vector<float> scales, Sizes axes = {2, 3}) {
  Resample2dAttributes attributes;
  attributes.scales = scales;
  attributes.axes = axes;
  return attributes;
}
Resample2dAttributes sized(Sizes sizes, Sizes axes = {2, 3}) {
  Resample2dAttributes attributes;
  attributes.scales = {9, 9};
  attributes.sizes = sizes;
  attributes.axes = axes;
  return attributes;
}

}  // namespace

BOOST_AUTO_TEST_CASE(resample2d) {
  const auto input = f32({1, 1, 2, 4});
  accept("resample2d", {input}, Resample2dAttributes{}, input);
  accept("resample2d", {input}, scaled({2, 2}), f32({1, 1, 4, 8}));
  accept("resample2d", {f32({1, 1, 5, 5})}, scaled({0.5F, 0.5F}), f32({1, 1, 2, 2}));
  accept("resample2d", {input}, scaled({1, 2}, {0, 1}), f32({1, 2, 2, 4}));
  accept("resample2d", {input}, scaled({2, 2}, {1, 2}), f32({1, 2, 4, 4}));
  accept("resample2d", {input}, sized({3, 6}), f32({1, 1, 3, 6}));
  accept("resample2d", {input}, sized({3, 6}, {0, 2}), f32({3, 1, 6, 4}));
  for (const auto type : all_data_types) {
    const OperandDescriptor operand{type, {1, 1, 2, 4}};
    if (row_of("resample2d").operands()[0].types.has(type))
      accept("resample2d", {operand}, Resample2dAttributes{}, operand);
    else
      refuse("resample2d", {operand}, Resample2dAttributes{}, "operand 'input'");
  }
  refuse("resample2d", {f32({2, 4})}, Resample2dAttributes{}, "operand 'input'");
  refuse("resample2d", {input}, scaled({1, 1, 2}), "scales");
  refuse("resample2d", {input}, scaled({-1, 2}), "scales");
  refuse("resample2d", {input}, scaled({1, 0}), "scales");
  refuse("resample2d", {input}, scaled({0.4F, 1}), "dimension");
  refuse("resample2d", {input}, scaled({4294967295.F, 1}), "dimension");
  refuse("resample2d", {input}, scaled({1, 3.4e38F}), "dimension");
  refuse("resample2d", {input}, sized({1, 1, 4}), "sizes");
  refuse("resample2d", {input}, sized({0, 4}), "sizes");
  refuse("resample2d", {input}, sized({4294967295U, 1}));
  refuse("resample2d", {input}, scaled({2, 2}, {2}), "axes");
  refuse("resample2d", {input}, scaled({2, 2}, {2, 4}), "axes");
  refuse("resample2d", {input}, scaled({2, 2}, {3, 3}), "axes");
  refuse("resample2d", {input}, sized({quarter, 2}), "result '");
}

BOOST_AUTO_TEST_SUITE_END()
