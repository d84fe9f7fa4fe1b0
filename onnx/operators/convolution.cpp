// Conv and ConvTranspose in one and two dimensions.
#include <array>

#include "onnx/handlers.hpp"
#include "onnx/operators/window.hpp"

namespace polychron::onnx::detail {

namespace {

Window filter_window(Node& node) {
  const auto& filter = node.shape(1);
  if (filter.size() != node.rank(0))
    malformed("a filter of shape " + to_string(filter) + " for an input of shape " +
              to_string(node.shape(0)));
  if (filter.size() < 3) unsupported("there is no spatial dimension");
  return read_window(node, {filter.begin() + 2, filter.end()});
}

std::uint32_t groups(const Node& node) {
  return unsigned_list({node.integer("group", 1)}, "attribute 'group'").front();
}

void conv(Node& node) {
  const auto window = filter_window(node);
  auto options = node.options<Conv2dOptions>();
  options.padding = window.padding();
  options.strides = to_list(window.strides);
  options.dilations = to_list(window.dilations);
  options.groups = groups(node);
  options.bias = node.optional_operand(2);
  node.set(lowered(node, node.builder.conv2d(lifted(node, 0), lifted(node, 1), options)));
}

/// Settles the padding so that the output has the size that output_shape or SAME asks for: ONNX's
/// output is (input - 1) stride + output_padding + extent - padding.
void pad_to(Window& window, const Window::Pair& extra, const Window::Pair& output, bool upper) {
  for (std::size_t d = 0; d < 2; ++d) {
    const auto full = (window.input[d] - 1) * window.strides[d] + extra[d] + window.extent(d);
    if (output[d] > full) unsupported("an output that is larger than all that is calculated");
    const auto total = full - output[d];
    // The specification puts the odd one at the end for SAME_UPPER, else at the beginning.
    window.pads_begin[d] = upper ? total / 2 : total - total / 2;
    window.pads_end[d] = total - window.pads_begin[d];
  }
}

Window::Pair pair_of(const Node& node, const char* name, Window::Pair otherwise) {
  const auto values = node.integer_list(name);
  if (!values) return otherwise;
  auto list = unsigned_list(*values, name);
  const auto spatial = node.rank(0) - 2;
  // Some exporters give output_shape with batch and channels.
  if (list.size() == spatial + 2) list.erase(list.begin(), list.begin() + 2);
  if (list.size() != spatial)
    malformed("attribute '" + std::string(name) + "' has " + std::to_string(values->size()) +
              " entries");
  return spatial == 1 ? Window::Pair{otherwise[0], list[0]} : Window::Pair{list[0], list[1]};
}

void conv_transpose(Node& node) {
  auto window = filter_window(node);
  const auto extra = pair_of(node, "output_padding", {0, 0});
  const auto automatic = node.text("auto_pad", "NOTSET");
  const bool upper = automatic == "SAME_UPPER";
  if (node.has_attribute("output_shape")) {
    pad_to(window, extra, pair_of(node, "output_shape", {1, 1}), upper);
  } else if (upper || automatic == "SAME_LOWER") {
    Window::Pair output;
    for (std::size_t d = 0; d < 2; ++d) output[d] = window.input[d] * window.strides[d];
    pad_to(window, extra, output, upper);
  }
  auto options = node.options<ConvTranspose2dOptions>();
  options.padding = window.padding();
  options.strides = to_list(window.strides);
  options.dilations = to_list(window.dilations);
  options.output_padding = to_list(extra);
  options.groups = groups(node);
  options.bias = node.optional_operand(2);
  node.set(lowered(node, node.builder.conv_transpose2d(lifted(node, 0), lifted(node, 1), options)));
}

constexpr std::array rows{
    Row{"Conv", conv},
    Row{"ConvTranspose", conv_transpose},
};

}  // namespace

std::span<const Row> convolution_rows() noexcept { return rows; }

}  // namespace polychron::onnx::detail
