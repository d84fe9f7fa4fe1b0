// Normalization: the clauses of the public test suite.
#include "tests/ops/check.hpp"

using namespace polychron;
using namespace polychron::test;

BOOST_AUTO_TEST_SUITE(normalization_rules)

namespace {

LayerNormalizationAttributes layer_axes(std::vector<std::uint32_t> axes) {
  return {.axes = axes, .epsilon = 1e-5};
}

}  // namespace

BOOST_AUTO_TEST_CASE(batch_normalization) {
  const auto input = f32({1, 2, 5, 5});
  const BatchNormalizationAttributes defaults;
  accept("batchNormalization", {input, f32({2}), f32({2})}, defaults, input);
  accept("batchNormalization", {input, f32({2}), f32({2}), absent, f32({2})}, defaults, input);
  accept("batchNormalization", {input, f32({5}), f32({5}), f32({5}), f32({5})},
         BatchNormalizationAttributes{2, 1e-4}, input);
  refuse("batchNormalization", {i32({1, 2}), i32({2}), i32({2})}, defaults, "operand 'input'");
  const Descriptors whole{input, f32({2}), f32({2}), f32({2}), f32({2})};
  for (std::size_t i = 1; i < whole.size(); ++i) {
    const auto name = operand_text(row_of("batchNormalization").operands()[i]);
    for (const auto& wrong : {f16({2}), f32({2, 1}), f32({3})}) {
      auto operands = whole;
      operands[i] = wrong;
      refuse("batchNormalization", operands, defaults, name);
    }
  }
  refuse("batchNormalization", whole, BatchNormalizationAttributes{4, 1e-5}, "axis");
}

BOOST_AUTO_TEST_CASE(instance_normalization) {
  const auto input = f32({1, 2, 3, 4});
  const InstanceNormalizationAttributes nchw;
  const InstanceNormalizationAttributes nhwc{.epsilon = 1e-4, .layout = InputOperandLayout::nhwc};
  accept("instanceNormalization", {input}, nchw, input);
  accept("instanceNormalization", {input, f32({2}), f32({2})}, nchw, input);
  accept("instanceNormalization", {input, f32({4}), f32({4})}, nhwc, input);
  refuse("instanceNormalization", {f32({1, 2, 3, 4, 5})}, nchw, "rank 5");
  refuse("instanceNormalization", {i32({1, 2, 3, 4})}, nchw);
  refuse("instanceNormalization", {input, f16({2})}, nchw, "operand 'scale'");
  refuse("instanceNormalization", {input, absent, f16({2})}, nchw, "operand 'bias'");
  refuse("instanceNormalization", {input, f32({2, 1})}, nchw, "operand 'scale'");
  refuse("instanceNormalization", {input, f32({4})}, nchw, "operand 'scale'");
  refuse("instanceNormalization", {input, absent, f32({2})}, nhwc, "operand 'bias'");
}

BOOST_AUTO_TEST_CASE(layer_normalization) {
  const LayerNormalizationAttributes defaults{.axes = std::nullopt, .epsilon = 1e-4};
  const auto input = f32({1, 2, 3, 4});
  const auto large = f32({1, 2, 3, 4, 5, 6});
  accept("layerNormalization", {f32({})}, defaults, f32({}));
  accept("layerNormalization", {input}, layer_axes({3}), input);
  accept("layerNormalization", {input, f32({2, 3, 4})}, defaults, input);
  accept("layerNormalization", {input, f32({3, 4}), f32({3, 4})}, layer_axes({2, 3}), input);
  accept("layerNormalization", {large, f32({2, 4, 6})}, layer_axes({1, 3, 5}), large);
  accept("layerNormalization", {large, f32({6, 5, 4, 3, 2}), f32({6, 5, 4, 3, 2})},
         layer_axes({5, 4, 3, 2, 1}), large);
  refuse("layerNormalization", {u32({1, 2})}, defaults, "operand 'input'");
  refuse("layerNormalization", {input}, layer_axes({4}), "axes");
  refuse("layerNormalization", {input}, layer_axes({3, 3}), "axes");
  refuse("layerNormalization", {input, f16({2, 3, 4})}, defaults, "operand 'scale'");
  refuse("layerNormalization", {input, absent, f16({2, 3, 4})}, defaults, "operand 'bias'");
  refuse("layerNormalization", {input, f32({2, 3, 5})}, defaults, "operand 'scale'");
  refuse("layerNormalization", {input, absent, f32({3, 4})}, layer_axes({3}), "operand 'bias'");
}

BOOST_AUTO_TEST_SUITE_END()
