// conv2d and convTranspose2d: the clauses of the public test suite.
#include "tests/ops/check.hpp"

using namespace polychron;
using namespace polychron::test;

BOOST_AUTO_TEST_SUITE(convolution_rules)

namespace {

using Sizes = std::vector<std::uint32_t>;
constexpr std::uint32_t largest = 0xffff'ffff;

/// `shape`, given as n, c, h, w (o, i, h, w for filters), in the order that `layout` spells.
Shape in_layout(std::string_view layout, std::string_view from, const Shape& shape) {
  Shape result;
  for (const char c : layout) result.push_back(shape[from.find(c)]);
  return result;
}

constexpr std::array<std::string_view, 2> input_layouts{"nchw", "nhwc"};
constexpr std::array<std::string_view, 4> filter_layouts{"oihw", "hwio", "ohwi", "ihwo"};
constexpr std::array<std::string_view, 3> transpose_layouts{"iohw", "hwoi", "ohwi"};

Conv2dAttributes conv(Sizes padding, Sizes strides = {1, 1}, Sizes dilations = {1, 1},
                      std::uint32_t groups = 1) {
  return {.padding = padding, .strides = strides, .dilations = dilations, .groups = groups};
}

ConvTranspose2dAttributes transposed(Sizes strides, Sizes padding = {0, 0, 0, 0},
                                     Sizes output_padding = {0, 0}, Sizes output_sizes = {}) {
  return {.padding = padding,
          .strides = strides,
          .output_padding = output_padding,
          .output_sizes = output_sizes};
}

const OperandDescriptor image = f32({1, 1, 5, 5});
const OperandDescriptor filter = f32({1, 1, 3, 3});
const OperandDescriptor small = f32({1, 1, 3, 3});

}  // namespace

BOOST_AUTO_TEST_CASE(conv2d_sizes) {
  accept("conv2d", {image, filter}, Conv2dAttributes{}, f32({1, 1, 3, 3}));
  accept("conv2d", {image, filter}, conv({1, 1, 1, 1}), f32({1, 1, 5, 5}));
  accept("conv2d", {image, filter}, conv({1, 1, 1, 1}, {2, 2}), f32({1, 1, 3, 3}));
  accept("conv2d", {image, f32({1, 1, 4, 2})}, conv({1, 2, 0, 1}, {2, 2}), f32({1, 1, 3, 3}));
  accept("conv2d", {f32({1, 4, 2, 2}), f32({4, 1, 2, 2})}, conv({0, 0, 0, 0}, {1, 1}, {1, 1}, 4),
         f32({1, 4, 1, 1}));
  Conv2dAttributes dilated = conv({0, 0, 0, 0}, {1, 1}, {4, 4});
  dilated.input_layout = InputOperandLayout::nhwc;
  dilated.filter_layout = Conv2dFilterOperandLayout::ihwo;
  accept("conv2d", {f32({1, 65, 65, 1}), f32({1, 3, 3, 1})}, dilated, f32({1, 57, 57, 1}));
}

BOOST_AUTO_TEST_CASE(conv2d_layouts) {
  for (std::size_t i = 0; i < input_layouts.size(); ++i)
    for (std::size_t f = 0; f < filter_layouts.size(); ++f) {
      Conv2dAttributes attributes;
      attributes.input_layout = static_cast<InputOperandLayout>(i);
      attributes.filter_layout = static_cast<Conv2dFilterOperandLayout>(f);
      const auto input = f32(in_layout(input_layouts[i], "nchw", {1, 2, 5, 6}));
      const auto filter_of = [&](std::uint32_t channels) {
        return f32(in_layout(filter_layouts[f], "oihw", {4, channels, 3, 2}));
      };
      const auto result = f32(in_layout(input_layouts[i], "nchw", {1, 4, 3, 5}));
      accept("conv2d", {input, filter_of(2), f32({4})}, attributes, result);
      refuse("conv2d", {input, filter_of(1)}, attributes, "operand 'filter'");
      refuse("conv2d", {input, filter_of(2), f32({2})}, attributes, "operand 'bias'");
    }
}

BOOST_AUTO_TEST_CASE(conv2d_refusals) {
  const auto wrong = [&](const Conv2dAttributes& attributes, std::string_view part) {
    refuse("conv2d", {image, filter}, attributes, part);
  };
  refuse("conv2d", {f32({1, 5, 5}), filter}, Conv2dAttributes{}, "operand 'input'");
  refuse("conv2d", {image, f32({3, 3})}, Conv2dAttributes{}, "operand 'filter'");
  refuse("conv2d", {i32({1, 1, 5, 5}), i32({1, 1, 3, 3})}, Conv2dAttributes{}, "operand 'input'");
  refuse("conv2d", {image, f16({1, 1, 3, 3})}, Conv2dAttributes{}, "operand 'filter'");
  wrong(conv({1, 1}), "padding");
  wrong(conv({0, 0, 0, 0}, {1}), "strides");
  wrong(conv({0, 0, 0, 0}, {0, 1}), "strides");
  wrong(conv({0, 0, 0, 0}, {1, 1}, {1}), "dilations");
  wrong(conv({0, 0, 0, 0}, {1, 1}, {1, 0}), "dilations");
  wrong(conv({0, 0, 0, 0}, {1, 1}, {1, 1}, 0), "groups");
  wrong(conv({0, 0, 0, 0}, {1, 1}, {largest, largest}), "height");
  refuse("conv2d", {f32({1, 4, 5, 5}), f32({1, 2, 2, 2})}, conv({0, 0, 0, 0}, {1, 1}, {1, 1}, 3),
         "groups");
  refuse("conv2d", {f32({1, 4, 5, 5}), f32({1, 2, 2, 2})}, conv({0, 0, 0, 0}, {1, 1}, {1, 1}, 2),
         "output channels");
  refuse("conv2d", {image, f32({1, 1, 434983, 2})}, conv({0, 0, 0, 0}, {1, 1}, {328442, 1}),
         "height");
  refuse("conv2d", {image, f32({1, 1, 2, 7})}, Conv2dAttributes{}, "width");
  refuse("conv2d", {image, filter, f32({1, 1})}, Conv2dAttributes{}, "operand 'bias'");
  refuse("conv2d", {image, filter, f32({2})}, Conv2dAttributes{}, "operand 'bias'");
  refuse("conv2d", {image, filter, f16({1})}, Conv2dAttributes{}, "operand 'bias'");
}

BOOST_AUTO_TEST_CASE(conv_transpose2d_sizes) {
  const auto check = [](const OperandDescriptor& input, const ConvTranspose2dAttributes& attributes,
                        std::uint32_t height, std::uint32_t width) {
    accept("convTranspose2d", {input, filter}, attributes, f32({1, 1, height, width}));
  };
  check(small, ConvTranspose2dAttributes{}, 5, 5);
  check(small, transposed({3, 2}, {0, 0, 0, 0}, {0, 0}, {10, 8}), 10, 8);
  check(small, transposed({3, 2}, {0, 0, 0, 0}, {1, 1}), 10, 8);
  check(image, transposed({1, 1}, {1, 1, 1, 1}), 5, 5);
  check(small, transposed({2, 2}), 7, 7);
  check(small, transposed({2, 2}, {1, 1, 1, 1}), 5, 5);
  check(small, transposed({3, 2}, {0, 0, 0, 0}, {8, 8}, {9, 7}), 9, 7);
  ConvTranspose2dAttributes grouped;
  grouped.groups = 3;
  accept("convTranspose2d", {small, filter}, grouped, f32({1, 3, 5, 5}));
}

BOOST_AUTO_TEST_CASE(conv_transpose2d_layouts) {
  for (std::size_t i = 0; i < input_layouts.size(); ++i)
    for (std::size_t f = 0; f < transpose_layouts.size(); ++f) {
      ConvTranspose2dAttributes attributes;
      attributes.input_layout = static_cast<InputOperandLayout>(i);
      attributes.filter_layout = static_cast<ConvTranspose2dFilterOperandLayout>(f);
      const auto input = f32(in_layout(input_layouts[i], "nchw", {1, 2, 5, 6}));
      const auto filter_of = [&](std::uint32_t channels) {
        return f32(in_layout(transpose_layouts[f], "oihw", {4, channels, 3, 2}));
      };
      const auto result = f32(in_layout(input_layouts[i], "nchw", {1, 4, 7, 7}));
      accept("convTranspose2d", {input, filter_of(2), f32({4})}, attributes, result);
      refuse("convTranspose2d", {input, filter_of(1)}, attributes, "operand 'filter'");
      refuse("convTranspose2d", {input, filter_of(2), f32({2})}, attributes, "operand 'bias'");
    }
}

BOOST_AUTO_TEST_CASE(conv_transpose2d_refusals) {
  const auto wrong = [&](const ConvTranspose2dAttributes& attributes, std::string_view part) {
    refuse("convTranspose2d", {small, filter}, attributes, part);
  };
  const Sizes none{0, 0, 0, 0};
  refuse("convTranspose2d", {f32({1, 5, 5}), filter}, ConvTranspose2dAttributes{});
  refuse("convTranspose2d", {image, f32({3, 3})}, ConvTranspose2dAttributes{});
  refuse("convTranspose2d", {image, f16({1, 1, 3, 3})}, ConvTranspose2dAttributes{});
  refuse("convTranspose2d", {image, filter, f16({1})}, ConvTranspose2dAttributes{});
  wrong(transposed({1}), "strides");
  wrong(transposed({0, 1}), "strides");
  wrong(transposed({1, 1}, {1}), "padding");
  ConvTranspose2dAttributes attributes;
  attributes.dilations = {1, 0};
  wrong(attributes, "dilations");
  attributes.dilations = {largest, 1};
  wrong(attributes, "height");
  attributes.strides = {largest, 1};
  refuse("convTranspose2d", {f32({1, 1, 0x7fff'ffff, 1}), f32({1, 1, 0x7fff'ffff, 1})}, attributes,
         "height");
  attributes = {};
  attributes.groups = 0;
  wrong(attributes, "groups");
  attributes.groups = largest;
  wrong(attributes, "output channels");
  wrong(transposed({2, 2}, none, {1}), "outputPadding");
  wrong(transposed({2, 2}, none, {2, 0}), "outputPadding");
  wrong(transposed({2, 2}, none, {0, 2}), "outputPadding");
  wrong(transposed({2, 2}, none, {0, 0}, {7}), "outputSizes");
  wrong(transposed({2, 2}, none, {0, 0}, {0, 7}), "outputSizes");
  wrong(transposed({2, 2}, none, {0, 0}, {6, 7}), "outputSizes");
  wrong(transposed({2, 2}, none, {0, 0}, {7, 9}), "outputSizes");
  wrong(transposed({1, 1}, {3, 2, 0, 0}), "height");
  wrong(transposed({1, 1}, {0, 0, 4, 4}), "width");
  accept("convTranspose2d", {small, filter}, transposed({2, 2}, none, {0, 0}, {8, 8}),
         f32({1, 1, 8, 8}));
}

BOOST_AUTO_TEST_SUITE_END()
