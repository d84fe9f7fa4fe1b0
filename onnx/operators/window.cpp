#include "onnx/operators/window.hpp"

#include <limits>

namespace polychron::onnx::detail {

namespace {

using Pair = Window::Pair;

/// The last two of `values`, or the only one as the second.
void assign(Pair& pair, const std::vector<std::int64_t>& values, std::size_t spatial,
            std::int64_t least, const char* name) {
  if (values.size() != spatial)
    malformed("attribute '" + std::string(name) + "' has " + std::to_string(values.size()) +
              " entries for " + std::to_string(spatial) + " dimensions");
  for (std::size_t i = 0; i < spatial; ++i) {
    if (values[i] < least || values[i] > std::numeric_limits<std::int32_t>::max())
      unsupported("attribute '" + std::string(name) + "' has " + std::to_string(values[i]));
    pair[2 - spatial + i] = static_cast<std::uint64_t>(values[i]);
  }
}

void pad_same(Window& window, bool upper) {
  for (std::size_t d = 0; d < 2; ++d) {
    const auto output = (window.input[d] + window.strides[d] - 1) / window.strides[d];
    const auto covered = (output - 1) * window.strides[d] + window.extent(d);
    const auto total = covered > window.input[d] ? covered - window.input[d] : 0;
    window.pads_begin[d] = upper ? total / 2 : total - total / 2;
    window.pads_end[d] = total - window.pads_begin[d];
  }
}

void read_pads(const Node& node, Window& window, std::size_t spatial) {
  const auto automatic = node.text("auto_pad", "NOTSET");
  if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER")
    return pad_same(window, automatic == "SAME_UPPER");
  if (automatic != "NOTSET" && automatic != "VALID")
    malformed("attribute 'auto_pad' is " + quote(automatic));
  const auto pads = node.integer_list("pads");
  if (!pads || automatic == "VALID") return;
  if (pads->size() != 2 * spatial)
    malformed("attribute 'pads' has " + std::to_string(pads->size()) + " entries");
  const auto middle = pads->begin() + static_cast<std::ptrdiff_t>(spatial);
  assign(window.pads_begin, {pads->begin(), middle}, spatial, 0, "pads");
  assign(window.pads_end, {middle, pads->end()}, spatial, 0, "pads");
}

}  // namespace

std::vector<std::uint32_t> to_list(const Pair& pair) {
  return {static_cast<std::uint32_t>(pair[0]), static_cast<std::uint32_t>(pair[1])};
}

std::vector<std::uint32_t> Window::padding() const {
  std::vector<std::uint32_t> list;
  for (std::size_t d = 0; d < 2; ++d)
    for (const auto pad : {pads_begin[d], pads_end[d]}) {
      if (pad > std::numeric_limits<std::uint32_t>::max()) malformed("the padding is too large");
      list.push_back(static_cast<std::uint32_t>(pad));
    }
  return list;
}

Window read_window(const Node& node, const Shape& kernel) {
  const auto& shape = node.shape(0);
  if (shape.size() != 3 && shape.size() != 4)
    unsupported("WebNN has one and two spatial dimensions, not " + to_string(shape));
  const auto spatial = shape.size() - 2;
  Window window;
  for (std::size_t d = 0; d < spatial; ++d) window.input[2 - spatial + d] = shape[2 + d];
  const std::vector<std::int64_t> filter(kernel.begin(), kernel.end());
  const auto given = node.integer_list("kernel_shape");
  if (!given && kernel.empty()) malformed("attribute 'kernel_shape' is missing");
  if (given && !kernel.empty() && *given != filter)
    malformed("attribute 'kernel_shape' does not tell the filter's size");
  assign(window.kernel, given ? *given : filter, spatial, 1, "kernel_shape");
  if (const auto strides = node.integer_list("strides"))
    assign(window.strides, *strides, spatial, 1, "strides");
  if (const auto dilations = node.integer_list("dilations"))
    assign(window.dilations, *dilations, spatial, 1, "dilations");
  read_pads(node, window, spatial);
  return window;
}

Operand lifted(Node& node, std::size_t i) {
  const auto shape = node.shape(i);
  if (shape.size() != 3) return node.operand(i);
  const Shape lifted{shape[0], shape[1], 1, shape[2]};
  if (const auto* known = node.literal(i))
    return make_constant(node.builder, reshaped(*known, lifted));
  return node.builder.reshape(node.operand(i), lifted, node.options());
}

Operand lowered(Node& node, const Operand& result) {
  if (node.rank(0) != 3) return result;
  const auto& shape = result.shape();
  return node.builder.reshape(result, {shape[0], shape[1], shape[3]}, node.options());
}

}  // namespace polychron::onnx::detail
