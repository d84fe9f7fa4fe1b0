// Pooling: the clauses of the public test suite.
#include "tests/ops/check.hpp"

using namespace polychron;
using namespace polychron::test;

BOOST_AUTO_TEST_SUITE(pooling_rules)

namespace {

using Sizes = std::vector<std::uint32_t>;

Pool2dAttributes pool(std::optional<Sizes> window, Sizes padding = {0, 0, 0, 0},
                      Sizes strides = {1, 1}, RoundingType rounding = RoundingType::floor,
                      std::optional<Sizes> output_sizes = {}) {
  Pool2dAttributes attributes;
  attributes.window_dimensions = window;
  attributes.padding = padding;
  attributes.strides = strides;
  attributes.output_shape_rounding = rounding;
  attributes.output_sizes = output_sizes;
  return attributes;
}

}  // namespace

BOOST_AUTO_TEST_CASE(pool2d_sizes) {
  for (const std::string_view name : {"averagePool2d", "l2Pool2d", "maxPool2d"}) {
    const auto check = [&](std::uint32_t size, const Pool2dAttributes& attributes,
                           std::uint32_t result) {
      accept(name, {f32({1, 3, size, size})}, attributes, f32({1, 3, result, result}));
      accept(name, {f16({1, 3, size, size})}, attributes, f16({1, 3, result, result}));
      auto nhwc = attributes;
      nhwc.layout = InputOperandLayout::nhwc;
      accept(name, {f32({1, size, size, 3})}, nhwc, f32({1, result, result, 3}));
    };
    using enum RoundingType;
    check(4, pool(std::nullopt), 1);
    check(4, pool(Sizes{3, 3}), 2);
    check(5, pool(Sizes{5, 5}, {2, 2, 2, 2}), 5);
    check(5, pool(Sizes{2, 2}, {0, 0, 0, 0}, {2, 2}), 2);
    check(5, pool(Sizes{3, 3}, {1, 1, 1, 1}, {2, 2}), 3);
    check(7, pool(Sizes{4, 4}, {2, 1, 2, 1}, {2, 2}), 4);
    check(7, pool(Sizes{4, 4}, {1, 1, 1, 1}, {2, 2}, floor), 3);
    check(7, pool(Sizes{4, 4}, {1, 1, 1, 1}, {2, 2}, ceil), 4);
    check(7, pool(Sizes{4, 4}, {1, 1, 1, 1}, {2, 2}, ceil, Sizes{3, 3}), 3);
    check(7, pool(Sizes{4, 4}, {1, 1, 1, 1}, {2, 2}, floor, Sizes{4, 4}), 4);
  }
}

BOOST_AUTO_TEST_CASE(pool2d_refusals) {
  for (const std::string_view name : {"averagePool2d", "l2Pool2d", "maxPool2d"}) {
    const auto wrong = [&](const Pool2dAttributes& attributes, std::string_view part) {
      refuse(name, {f32({1, 3, 7, 7})}, attributes, part);
    };
    const Sizes none{0, 0, 0, 0};
    refuse(name, {f32({1, 5, 5})}, pool(std::nullopt), "operand 'input'");
    const auto four = [](Sizes sizes) {
      return pool(Sizes{4, 4}, {2, 1, 2, 1}, {2, 2}, RoundingType::floor, sizes);
    };
    wrong(four({3, 3}), "outputSizes");
    wrong(four({4}), "outputSizes");
    wrong(four({4, 4, 4}), "outputSizes");
    wrong(four({0, 4}), "outputSizes");
    wrong(pool(Sizes{4, 4, 4}), "windowDimensions");
    wrong(pool(Sizes{4, 0}), "windowDimensions");
    wrong(pool(Sizes{8, 2}), "height");
    wrong(pool(Sizes{2, 8}), "width");
    wrong(pool(Sizes{2, 10}, none, {9, 9}, RoundingType::ceil), "width");
    wrong(pool(Sizes{2, 2}, {1, 1}), "padding");
    wrong(pool(Sizes{2, 2}, none, {2}), "strides");
    wrong(pool(Sizes{2, 2}, none, {2, 0}), "strides");
    auto dilated = pool(Sizes{2, 2});
    dilated.dilations = {1, 1, 1};
    wrong(dilated, "dilations");
    dilated.dilations = {0, 1};
    wrong(dilated, "dilations");
    const std::uint32_t largest = 0xffff'ffff;
    wrong(pool(Sizes{2, 2}, {largest, largest, 0, 0}), "height");
  }
  refuse("l2Pool2d", {u8({1, 1, 4, 4})}, pool(std::nullopt), "operand 'input'");
  refuse("averagePool2d", {i64({1, 1, 4, 4})}, pool(std::nullopt), "operand 'input'");
  for (const auto type : {DataType::int32, DataType::uint32, DataType::int8, DataType::uint8})
    accept("maxPool2d", {{type, {1, 1, 4, 4}}}, pool(std::nullopt), {type, {1, 1, 1, 1}});
}

BOOST_AUTO_TEST_SUITE_END()
