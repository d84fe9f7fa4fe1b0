// conv2d and convTranspose2d.
#include "ops/shape_rules.hpp"
#include "ops/shape_rules/window.hpp"

namespace polychron::ops {

namespace {

/// The dimensions of a filter, by its layout.
struct Filter {
  std::uint32_t output_channels, input_channels, height, width;

  template <class L>
  Filter(const Shape& shape, L layout) {
    const auto [o, i, h, w] = filter_axes(layout);
    output_channels = shape[o], input_channels = shape[i], height = shape[h], width = shape[w];
  }

  std::uint32_t size(std::size_t axis) const { return axis == 0 ? height : width; }
};

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
  const bool known_channels = !is_symbol(image.channels);
  if (known_channels && image.channels % groups != 0)
    call.fail("operand 'input' has " + std::to_string(image.channels) +
              " channels, expected a multiple of groups, " + std::to_string(groups));
  if (known_channels && differ(image.channels / groups, filter.input_channels))
    call.fail("operand 'filter' has " + std::to_string(filter.input_channels) +
              " input channels, expected " + std::to_string(image.channels / groups) +
              ", the input's by groups");
  if (!is_symbol(filter.output_channels) && filter.output_channels % groups != 0)
    call.fail("operand 'filter' has " + std::to_string(filter.output_channels) +
              " output channels, expected a multiple of groups, " + std::to_string(groups));
  expect_bias(call, filter.output_channels);
  std::array<std::uint32_t, 2> sizes{};
  for (std::size_t i = 0; i < 2; ++i)
    sizes[i] = is_symbol(image.size(i)) || is_symbol(filter.size(i))
                   ? derived
                   : call.expect_dimension(
                         window_range(call, attributes, image.size(i), filter.size(i), i) /
                                 attributes.strides[i] +
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
                                std::uint32_t input, std::uint32_t window, std::size_t axis) {
  if (is_symbol(input) || is_symbol(window))
    return attributes.output_sizes.empty() ? derived : attributes.output_sizes[axis];
  const auto calculated = transposed_size(call, attributes, input, window, axis);
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
  if (differ(image.channels, filter.input_channels))
    call.fail("operand 'filter' has " + std::to_string(filter.input_channels) +
              " input channels, expected " + std::to_string(image.channels) + ", the input's");
  // As in the specification, the input's channels need not be a multiple of groups here.
  auto channels = filter.output_channels;
  if (attributes.groups != 1)
    channels = is_symbol(channels)
                   ? derived
                   : call.expect_dimension(std::uint64_t{channels} * attributes.groups,
                                           "the number of output channels");
  expect_bias(call, channels);
  std::array<std::uint32_t, 2> sizes{};
  for (std::size_t i = 0; i < 2; ++i)
    sizes[i] = transposed_output(call, attributes, image.size(i), filter.size(i), i);
  image.channels = channels;
  std::tie(image.height, image.width) = std::tie(sizes[0], sizes[1]);
  return {image.shape(attributes.input_layout)};
}

}  // namespace polychron::ops
