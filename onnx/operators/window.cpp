#include "onnx/operators/window.hpp"

#include <limits>
#include <utility>

namespace polychron::onnx::detail {

namespace {

/// A window over as many dimensions as the input has.
struct Numbers {
  std::vector<std::uint64_t> input, kernel, strides, dilations, pads_begin, pads_end;

  explicit Numbers(std::size_t spatial)
      : input(spatial, 1),
        kernel(spatial, 1),
        strides(spatial, 1),
        dilations(spatial, 1),
        pads_begin(spatial, 0),
        pads_end(spatial, 0) {}
  std::size_t spatial() const { return input.size(); }
};

void assign(std::vector<std::uint64_t>& to, const std::vector<std::int64_t>& values,
            std::int64_t least, const char* name) {
  if (values.size() != to.size())
    malformed("attribute '" + std::string(name) + "' has " + std::to_string(values.size()) +
              " entries for " + std::to_string(to.size()) + " dimensions");
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (values[i] < least || values[i] > std::numeric_limits<std::int32_t>::max())
      unsupported("attribute '" + std::string(name) + "' has " + std::to_string(values[i]));
    to[i] = static_cast<std::uint64_t>(values[i]);
  }
}

void pad_same(Numbers& window, bool upper) {
  for (std::size_t d = 0; d < window.spatial(); ++d) {
    const auto output = (window.input[d] + window.strides[d] - 1) / window.strides[d];
    const auto extent = (window.kernel[d] - 1) * window.dilations[d] + 1;
    const auto covered = (output - 1) * window.strides[d] + extent;
    const auto total = covered > window.input[d] ? covered - window.input[d] : 0;
    window.pads_begin[d] = upper ? total / 2 : total - total / 2;
    window.pads_end[d] = total - window.pads_begin[d];
  }
}

void read_pads(const Node& node, Numbers& window) {
  const auto automatic = node.text("auto_pad", "NOTSET");
  if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER")
    return pad_same(window, automatic == "SAME_UPPER");
  if (automatic != "NOTSET" && automatic != "VALID" && !automatic.empty())
    malformed("attribute 'auto_pad' is " + quote(automatic));
  const auto pads = node.integer_list("pads");
  if (!pads || automatic == "VALID") return;
  if (pads->size() != 2 * window.spatial())
    malformed("attribute 'pads' has " + std::to_string(pads->size()) + " entries");
  const auto middle = pads->begin() + static_cast<std::ptrdiff_t>(window.spatial());
  assign(window.pads_begin, {pads->begin(), middle}, 0, "pads");
  assign(window.pads_end, {middle, pads->end()}, 0, "pads");
}

Numbers read_numbers(const Node& node, const Shape& kernel) {
  const auto& shape = node.shape(0);
  if (shape.size() < 3) unsupported("there is no spatial dimension in " + to_string(shape));
  if (shape.size() > 5) unsupported("more than three spatial dimensions: " + to_string(shape));
  Numbers window(shape.size() - 2);
  for (std::size_t d = 0; d < window.spatial(); ++d) window.input[d] = shape[2 + d];
  const std::vector<std::int64_t> filter(kernel.begin(), kernel.end());
  const auto given = node.integer_list("kernel_shape");
  if (!given && kernel.empty()) malformed("attribute 'kernel_shape' is missing");
  if (given && !kernel.empty() && *given != filter)
    malformed("attribute 'kernel_shape' differs from the filter's size");
  assign(window.kernel, given ? *given : filter, 1, "kernel_shape");
  if (const auto strides = node.integer_list("strides"))
    assign(window.strides, *strides, 1, "strides");
  if (const auto dilations = node.integer_list("dilations"))
    assign(window.dilations, *dilations, 1, "dilations");
  read_pads(node, window);
  return window;
}

/// Dimensions `first` on as the last of a window.
Window window_of(const Numbers& numbers, std::size_t first, std::size_t size) {
  Window window;
  for (std::size_t i = 0; i < size; ++i) {
    const auto to = 2 - size + i;
    window.input[to] = numbers.input[first + i];
    window.kernel[to] = numbers.kernel[first + i];
    window.strides[to] = numbers.strides[first + i];
    window.dilations[to] = numbers.dilations[first + i];
    window.pads_begin[to] = numbers.pads_begin[first + i];
    window.pads_end[to] = numbers.pads_end[first + i];
  }
  return window;
}

}  // namespace

std::vector<std::uint32_t> to_list(const Window::Pair& pair) {
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
  const auto numbers = read_numbers(node, kernel);
  if (numbers.spatial() > 2)
    unsupported("three spatial dimensions, of which WebNN has two: " + to_string(node.shape(0)));
  return window_of(numbers, 0, numbers.spatial());
}

DeepWindow read_deep_window(const Node& node, const Shape& kernel) {
  const auto numbers = read_numbers(node, kernel);
  auto depth = window_of(numbers, 0, 1);
  for (auto* pair : {&depth.input, &depth.kernel, &depth.strides, &depth.dilations,
                     &depth.pads_begin, &depth.pads_end})
    std::swap((*pair)[0], (*pair)[1]);
  return {window_of(numbers, 1, 2), depth};
}

Term lifted(Node&, const Term& x) {
  const auto& shape = x.shape();
  return shape.size() == 3 ? x.reshape({shape[0], shape[1], 1, shape[2]}) : x;
}

Operand lifted(Node& node, std::size_t i) {
  const auto shape = node.shape(i);
  const auto* known = node.literal(i);
  if (shape.size() == 3 && known)
    return make_constant(node.importer, reshaped(*known, {shape[0], shape[1], 1, shape[2]}));
  return lifted(node, term(node, i)).operand();
}

Term lowered(Node& node, const Term& result) {
  if (node.rank(0) != 3) return result;
  const auto& shape = result.shape();
  return result.reshape({shape[0], shape[1], shape[3]});
}

Operand lowered(Node& node, const Operand& result) {
  return lowered(node, Term(node, result)).operand();
}

}  // namespace polychron::onnx::detail
