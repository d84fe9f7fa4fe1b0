// The window of convolution and pooling, over one to three dimensions.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "onnx/operators/term.hpp"

namespace polychron::onnx::detail {

/// WebNN has two spatial dimensions. A single dimension becomes the second of two (with a height of
/// 1). Of three dimensions, the operator itself handles the first (the depth) by several
/// two-dimensional operations; the window has the other two. Each number is at most 2^31 - 1, so
/// that sums and products of two fit 64 bits.
struct Window {
  using Pair = std::array<std::uint64_t, 2>;
  Pair input{1, 1};
  Pair kernel{1, 1};
  Pair strides{1, 1};
  Pair dilations{1, 1};
  Pair pads_begin{0, 0};
  Pair pads_end{0, 0};

  /// Size of the window with its gaps.
  std::uint64_t extent(std::size_t d) const { return (kernel[d] - 1) * dilations[d] + 1; }
  /// WebNN's order: beginning and end of height, then of width.
  std::vector<std::uint32_t> padding() const;
};

std::vector<std::uint32_t> to_list(const Window::Pair& pair);

/// Reads kernel_shape, strides, dilations and pads for input 0 of `node`; `kernel` is the size of
/// the filter; it is empty for pooling, which needs the attribute. SAME_UPPER and SAME_LOWER give
/// an output of ceil(input / stride).
Window read_window(const Node& node, const Shape& kernel);

/// The windows of a node with three spatial dimensions: one of the last two, and one of the first,
/// as the height of a window whose width is 1.
struct DeepWindow {
  Window plane;
  Window depth;
};
DeepWindow read_deep_window(const Node& node, const Shape& kernel);

/// A tensor of rank 3 or 4 as rank 4.
Term lifted(Node& node, const Term& x);
Operand lifted(Node& node, std::size_t i);
/// `result` with the rank that input 0 has.
Term lowered(Node& node, const Term& result);
Operand lowered(Node& node, const Operand& result);

}  // namespace polychron::onnx::detail
