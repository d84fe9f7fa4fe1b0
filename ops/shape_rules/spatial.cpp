// Convolution, pooling and resampling: operators with two spatial dimensions.
//
// Sizes are calculated in 64 bits: every product of two 32-bit numbers fits, and sums that might
// not are compared before they are made.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <tuple>

#include "ops/attributes.hpp"
#include "ops/call.hpp"
#include "ops/shape_rules.hpp"

namespace polychron::ops {

namespace {

using Sizes = std::vector<std::uint32_t>;

/// An input of rank 4, taken apart by its layout.
struct Image {
  std::uint32_t batches, channels, height, width;

  Image(const Shape& shape, InputOperandLayout layout)
      : batches(shape[0]),
        channels(shape[layout == InputOperandLayout::nchw ? 1 : 3]),
        height(shape[layout == InputOperandLayout::nchw ? 2 : 1]),
        width(shape[layout == InputOperandLayout::nchw ? 3 : 2]) {}

  std::uint32_t size(std::size_t axis) const { return axis == 0 ? height : width; }

  Shape shape(InputOperandLayout layout) const {
    if (layout == InputOperandLayout::nchw) return {batches, channels, height, width};
    return {batches, height, width, channels};
  }
};

/// A filter taken apart by its layout, whose spelling tells where the dimensions are.
struct Filter {
  std::uint32_t input_channels, output_channels, height, width;

  template <class L>
  Filter(const Shape& shape, L layout)
      : Filter(shape, spellings<L>[static_cast<std::size_t>(layout)]) {}
  Filter(const Shape& shape, std::string_view layout)
      : input_channels(shape[layout.find('i')]),
        output_channels(shape[layout.find('o')]),
        height(shape[layout.find('h')]),
        width(shape[layout.find('w')]) {}

  std::uint32_t size(std::size_t axis) const { return axis == 0 ? height : width; }
};

constexpr std::array<std::string_view, 2> size_names{"the result's height", "the result's width"};

template <class A>
void expect_window(const Call& call, const A& attributes) {
  call.expect_length(attributes.padding, 4, "padding");
  call.expect_length(attributes.strides, 2, "strides");
  call.expect_positive(attributes.strides, "strides");
  call.expect_length(attributes.dilations, 2, "dilations");
  call.expect_positive(attributes.dilations, "dilations");
}

/// How far a window of `size` reaches when it is dilated.
std::uint64_t effective_size(std::uint32_t size, std::uint32_t dilation) {
  return (std::uint64_t{size} - 1) * dilation + 1;
}

std::uint64_t both_paddings(const Sizes& padding, std::size_t axis) {
  return std::uint64_t{padding[axis * 2]} + padding[axis * 2 + 1];
}

/// How many places a window has along an axis beyond the first, times the stride.
template <class A>
std::uint64_t window_range(const Call& call, const A& attributes, std::uint32_t input,
                           std::uint32_t window, std::size_t axis) {
  const auto padded = input + both_paddings(attributes.padding, axis);
  const auto effective = effective_size(window, attributes.dilations[axis]);
  if (effective > padded)
    call.fail("the window reaches over " + std::to_string(effective) +
              " elements with its dilation, expected at most " + std::to_string(padded) +
              ", the input's with its padding, for " + std::string(size_names[axis]));
  return padded - effective;
}

void expect_bias(const Call& call, std::uint32_t output_channels) {
  if (call.has(2)) call.expect_shape(2, {output_channels});
}

}  // namespace

std::vector<Shape> conv2d_shape(const Call& call) {
  const auto& attributes = call.attributes<Conv2dAttributes>();
  expect_window(call, attributes);
  Image image(call.shape(0), attributes.input_layout);
  const Filter filter(call.shape(1), attributes.filter_layout);
  const auto groups = attributes.groups;
  if (groups == 0) call.fail("groups is 0, expected a number above 0");
  if (image.channels % groups != 0)
    call.fail("operand 'input' has " + std::to_string(image.channels) +
              " channels, expected a multiple of groups, " + std::to_string(groups));
  if (image.channels / groups != filter.input_channels)
    call.fail("operand 'filter' has " + std::to_string(filter.input_channels) +
              " input channels, expected " + std::to_string(image.channels / groups) +
              ", the input's by groups");
  if (filter.output_channels % groups != 0)
    call.fail("operand 'filter' has " + std::to_string(filter.output_channels) +
              " output channels, expected a multiple of groups, " + std::to_string(groups));
  expect_bias(call, filter.output_channels);
  std::array<std::uint32_t, 2> sizes{};
  for (std::size_t i = 0; i < 2; ++i)
    sizes[i] = call.expect_dimension(
        window_range(call, attributes, image.size(i), filter.size(i), i) / attributes.strides[i] +
            1,
        size_names[i]);
  image.channels = filter.output_channels;
  std::tie(image.height, image.width) = std::tie(sizes[0], sizes[1]);
  return {image.shape(attributes.input_layout)};
}

namespace {

/// The size of a transposed convolution's result along an axis, without output padding: may be
/// negative when the padding is large.
std::int64_t transposed_size(const Call& call, const ConvTranspose2dAttributes& attributes,
                             std::uint32_t input, std::uint32_t window, std::size_t axis) {
  const auto strided = (std::uint64_t{input} - 1) * attributes.strides[axis];
  const auto effective = effective_size(window, attributes.dilations[axis]);
  constexpr auto limit = std::uint64_t{1} << 62;
  if (strided > limit || effective > limit)
    call.fail(std::string(size_names[axis]) + " would be too large, expected at most 2147483647");
  return static_cast<std::int64_t>(strided + effective) -
         static_cast<std::int64_t>(both_paddings(attributes.padding, axis));
}

std::uint32_t transposed_output(const Call& call, const ConvTranspose2dAttributes& attributes,
                                std::int64_t calculated, std::size_t axis) {
  const auto stride = std::int64_t{attributes.strides[axis]};
  if (attributes.output_sizes.empty()) {
    const auto size = calculated + attributes.output_padding[axis];
    if (size < 1)
      call.fail(std::string(size_names[axis]) + " would be " + std::to_string(size) +
                ", expected at least 1");
    return call.expect_dimension(static_cast<std::uint64_t>(size), size_names[axis]);
  }
  const auto size = std::int64_t{attributes.output_sizes[axis]};
  if (size < calculated || size >= calculated + stride)
    call.fail("outputSizes has " + std::to_string(size) + " for " + std::string(size_names[axis]) +
              ", expected " + std::to_string(calculated) + " to " +
              std::to_string(calculated + stride - 1));
  return call.expect_dimension(attributes.output_sizes[axis], size_names[axis]);
}

}  // namespace

std::vector<Shape> conv_transpose2d_shape(const Call& call) {
  const auto& attributes = call.attributes<ConvTranspose2dAttributes>();
  expect_window(call, attributes);
  call.expect_length(attributes.output_padding, 2, "outputPadding");
  if (!attributes.output_sizes.empty())
    call.expect_length(attributes.output_sizes, 2, "outputSizes");
  else
    for (std::size_t i = 0; i < 2; ++i)
      if (attributes.output_padding[i] >= attributes.strides[i])
        call.fail("outputPadding is " + std::to_string(attributes.output_padding[i]) +
                  ", expected less than the stride, " + std::to_string(attributes.strides[i]));
  if (attributes.groups == 0) call.fail("groups is 0, expected a number above 0");
  Image image(call.shape(0), attributes.input_layout);
  const Filter filter(call.shape(1), attributes.filter_layout);
  if (image.channels != filter.input_channels)
    call.fail("operand 'filter' has " + std::to_string(filter.input_channels) +
              " input channels, expected " + std::to_string(image.channels) + ", the input's");
  // As the specification has it, the input's channels need not be a multiple of groups here.
  const auto channels = call.expect_dimension(
      std::uint64_t{filter.output_channels} * attributes.groups, "the number of output channels");
  expect_bias(call, channels);
  std::array<std::uint32_t, 2> sizes{};
  for (std::size_t i = 0; i < 2; ++i)
    sizes[i] = transposed_output(
        call, attributes, transposed_size(call, attributes, image.size(i), filter.size(i), i), i);
  image.channels = channels;
  std::tie(image.height, image.width) = std::tie(sizes[0], sizes[1]);
  return {image.shape(attributes.input_layout)};
}

// As the public test suite has it, padding counts also when outputSizes is given, and outputSizes
// need not be below the strides.
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
    const auto range = window_range(call, attributes, image.size(i), window[i], i);
    const auto stride = attributes.strides[i];
    floors[i] = call.expect_dimension(range / stride + 1, size_names[i]);
    ceilings[i] = call.expect_dimension((range + stride - 1) / stride + 1, size_names[i]);
  }
  auto sizes = attributes.output_shape_rounding == RoundingType::floor ? floors : ceilings;
  if (attributes.output_sizes) {
    call.expect_length(*attributes.output_sizes, 2, "outputSizes");
    sizes = {(*attributes.output_sizes)[0], (*attributes.output_sizes)[1]};
    if (sizes != floors && sizes != ceilings)
      call.fail("outputSizes is " + to_string(*attributes.output_sizes) + ", expected " +
                to_string(Shape(floors.begin(), floors.end())) + " or " +
                to_string(Shape(ceilings.begin(), ceilings.end())));
  }
  std::tie(image.height, image.width) = std::tie(sizes[0], sizes[1]);
  return {image.shape(attributes.layout)};
}

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
    const double scaled = std::floor(size * static_cast<double>(attributes.scales[i]));
    // Whatever is beyond 32 bits is too large; the cast of a double has to stay in range.
    size = call.expect_dimension(static_cast<std::uint64_t>(std::min(scaled, 0x1p32)),
                                 "a dimension of the result");
  }
  return {result};
}

}  // namespace polychron::ops
