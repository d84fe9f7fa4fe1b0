// Conv and ConvTranspose in one to three dimensions.
#include <array>

#include "onnx/handlers.hpp"
#include "onnx/operators/fused_activation.hpp"
#include "onnx/operators/window.hpp"

namespace polychron::onnx::detail {

namespace {

Window filter_window(Node& node) {
  const auto& filter = node.shape(1);
  if (filter.size() != node.rank(0))
    malformed("a filter of shape " + to_string(filter) + " for an input of shape " +
              to_string(node.shape(0)));
  if (filter.size() < 3) unsupported("there is no spatial dimension");
  return read_window(node, filter.from(2));
}

std::uint32_t groups(const Node& node) {
  return unsigned_list({node.integer("group", 1)}, "attribute 'group'").front();
}

Conv2dAttributes conv_attributes(Node& node, const Window& window) {
  return {.padding = window.padding(),
          .strides = to_list(window.strides),
          .dilations = to_list(window.dilations),
          .groups = groups(node)};
}

/// Volumes [N, C, D, H, W] as pictures [N x D, C, H, W]. If a window sees one place of a plane
/// only, they become [N, C, D x H, W], for which no element moves.
Term pictures(const Term& x, bool one_place) {
  const auto s = x.shape();
  if (one_place) return x.reshape({s[0], s[1], s[2] * s[3], s[4]});
  return x.transpose({0, 2, 1, 3, 4}).reshape({s[0] * s[2], s[1], s[3], s[4]});
}

/// The reverse, with `count` planes for each batch entry.
Term volumes(const Term& x, std::uint32_t count, bool one_place) {
  const auto s = x.shape();
  if (one_place) return x.reshape({s[0], s[1], count, s[2] / count, s[3]});
  return x.reshape({s[0] / count, count, s[1], s[2], s[3]}).transpose({0, 2, 1, 3, 4});
}

bool sees_one_place(const Window& window) {
  using Pair = Window::Pair;
  return window.kernel == Pair{1, 1} && window.strides == Pair{1, 1} &&
         window.pads_begin == Pair{0, 0} && window.pads_end == Pair{0, 0};
}

/// A sum of two-dimensional convolutions, one for each plane of the filter.
Term deep_conv(Node& node) {
  const auto [plane, depth] = read_deep_window(node, node.shape(1).from(2));
  const auto x = term(node, 0).pad(2, static_cast<std::uint32_t>(depth.pads_begin[0]),
                                   static_cast<std::uint32_t>(depth.pads_end[0]));
  const auto filter = term(node, 1);
  const auto attributes = conv_attributes(node, plane);
  const bool one_place = sees_one_place(plane);
  if (depth.extent(0) > x.shape()[2]) malformed("the window is larger than the padded input");
  const auto steps =
      static_cast<std::uint32_t>((x.shape()[2] - depth.extent(0)) / depth.strides[0]);
  const auto stride = static_cast<std::uint32_t>(depth.strides[0]);
  std::optional<Term> sum;
  for (std::uint32_t k = 0; k < depth.kernel[0]; ++k) {
    node.importer.spend(4);
    const auto begin = k * static_cast<std::uint32_t>(depth.dilations[0]);
    const auto taken = pictures(x.slice(2, begin, begin + steps * stride + 1, stride), one_place);
    const auto part = x.with(node.builder.conv2d(taken.operand(), filter.at(2, k).operand(),
                                                 attributes, {}, node.label()));
    sum = sum ? *sum + part : part;
  }
  if (node.has_input(2)) sum = *sum + term(node, 2).reshape({1, node.shape(2)[0], 1, 1});
  return volumes(*sum, steps + 1, one_place);
}

Term convolved(Node& node) {
  if (node.rank(0) == 5 && node.rank(1) == 5) return deep_conv(node);
  const auto window = filter_window(node);
  return {node, lowered(node, node.builder.conv2d(lifted(node, 0), lifted(node, 1),
                                                  conv_attributes(node, window),
                                                  node.optional_operand(2), node.label()))};
}

void conv(Node& node) { node.set(convolved(node).operand()); }

/// A convolution with a summand and an activation.
void fused_conv(Node& node) {
  auto result = convolved(node);
  if (node.has_input(3)) result = result + term(node, 3);
  const auto parameters = node.real_list("activation_params").value_or(std::vector<double>{});
  node.set(activated(result, node.text("activation", ""), parameters).operand());
}

/// Chooses the padding that gives the size of output_shape or SAME: ONNX's output is (input - 1)
/// stride + output_padding + extent - padding. Output beyond all calculated elements is 0.
void pad_to(Window& window, Window::Pair& extra, const Window::Pair& output, bool upper) {
  for (std::size_t d = 0; d < 2; ++d) {
    const auto full = (window.input[d] - 1) * window.strides[d] + extra[d] + window.extent(d);
    if (output[d] > full) {
      extra[d] += output[d] - full;
      window.pads_begin[d] = window.pads_end[d] = 0;
      continue;
    }
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

ConvTranspose2dAttributes transpose_attributes(Node& node, const Window& window) {
  ConvTranspose2dAttributes attributes;
  attributes.strides = to_list(window.strides);
  attributes.dilations = to_list(window.dilations);
  attributes.groups = groups(node);
  return attributes;
}

/// A sum of two-dimensional transposed convolutions, each at its planes among planes of 0.
void deep_conv_transpose(Node& node) {
  if (node.has_attribute("output_shape") || node.text("auto_pad", "NOTSET") != "NOTSET")
    unsupported("three dimensions with a given output shape");
  const auto [plane, depth] = read_deep_window(node, node.shape(1).from(2));
  const auto extra = node.integer_list("output_padding").value_or(std::vector<std::int64_t>(3, 0));
  if (extra.size() != 3) malformed("attribute 'output_padding'");
  auto attributes = transpose_attributes(node, plane);
  attributes.padding = plane.padding();
  attributes.output_padding = unsigned_list({extra[1], extra[2]}, "output_padding");
  const auto filter = term(node, 1);
  const auto x = term(node, 0);
  const auto count = x.shape()[2];
  const auto stride = static_cast<std::uint32_t>(depth.strides[0]);
  const auto gaps = (count - 1) * stride + 1;
  const auto whole = gaps + static_cast<std::uint32_t>(depth.extent(0)) - 1;
  const auto flat = pictures(x, false);
  std::optional<Term> sum;
  for (std::uint32_t k = 0; k < depth.kernel[0]; ++k) {
    node.importer.spend(8);
    const auto part =
        volumes(x.with(node.builder.conv_transpose2d(flat.operand(), filter.at(2, k).operand(),
                                                     attributes, {}, node.label())),
                count, false);
    auto spread = part.unsqueeze(3).pad(3, 0, stride - 1);
    spread = spread.reshape(part.shape().with(2, count * stride)).slice(2, 0, gaps);
    const auto begin = k * static_cast<std::uint32_t>(depth.dilations[0]);
    spread = spread.pad(2, begin, whole - gaps - begin);
    sum = sum ? *sum + spread : spread;
  }
  const auto last = unsigned_list({extra[0]}, "output_padding").front();
  const auto end = whole + last - static_cast<std::uint32_t>(depth.pads_end[0]);
  auto result = sum->pad(2, 0, last).slice(2, static_cast<std::uint32_t>(depth.pads_begin[0]), end);
  if (node.has_input(2)) result = result + term(node, 2).reshape({1, node.shape(2)[0], 1, 1, 1});
  node.set(result.operand());
}

/// WebNN's output padding must be less than the stride. The rest is added as zeros, and then the
/// bias.
void conv_transpose(Node& node) {
  if (node.rank(0) == 5 && node.rank(1) == 5) return deep_conv_transpose(node);
  auto window = filter_window(node);
  auto extra = pair_of(node, "output_padding", {0, 0});
  const auto automatic = node.text("auto_pad", "NOTSET");
  const bool upper = automatic == "SAME_UPPER";
  if (node.has_attribute("output_shape")) {
    pad_to(window, extra, pair_of(node, "output_shape", {1, 1}), upper);
  } else if (upper || automatic == "SAME_LOWER") {
    Window::Pair output;
    for (std::size_t d = 0; d < 2; ++d) output[d] = window.input[d] * window.strides[d];
    pad_to(window, extra, output, upper);
  }
  Window::Pair beyond{0, 0};
  for (std::size_t d = 0; d < 2; ++d)
    if (extra[d] >= window.strides[d]) std::swap(extra[d], beyond[d]);
  auto attributes = transpose_attributes(node, window);
  attributes.padding = window.padding();
  attributes.output_padding = to_list(extra);
  const bool whole = beyond == Window::Pair{0, 0};
  const auto bias = whole ? node.optional_operand(2) : std::nullopt;
  Term result(node, node.builder.conv_transpose2d(lifted(node, 0), lifted(node, 1), attributes,
                                                  bias, node.label()));
  for (std::uint32_t d = 0; d < 2; ++d) result = result.pad(2 + d, 0, to_list(beyond)[d]);
  if (!whole && node.has_input(2))
    result = result + term(node, 2).reshape({1, node.shape(2)[0], 1, 1});
  node.set(lowered(node, result).operand());
}

}  // namespace

std::span<const Row> convolution_rows() noexcept {
  static constexpr std::array rows{
      Row{"Conv", conv},
      Row{"ConvTranspose", conv_transpose},
      Row{"com.microsoft:FusedConv", fused_conv},
  };
  return rows;
}

}  // namespace polychron::onnx::detail
