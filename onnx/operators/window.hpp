// What convolution and pooling have in common: a window that is moved over one to three dimensions.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "onnx/operators/term.hpp"

namespace polychron::onnx::detail {

/// WebNN has two spatial dimensions. One dimension becomes the second of two (a height of 1). Of
/// three, the first (the depth) is left to the operator, which says it by several of two; these
/// windows hold the other two. Each number is at most 2^31 - 1, so that sums and products of two
/// fit 64 bits.
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

/// Reads kernel_shape, strides, dilations and pads for input 0 of `node`; `kernel` is the size that
/// the filter has (empty for pooling, where the attribute must tell). auto_pad SAME_UPPER and
/// SAME_LOWER are worked out for an output of ceil(input / stride).
Window read_window(const Node& node, const Shape& kernel);

/// Of a node with three spatial dimensions: the last two, and the first, as the height of a window
/// whose width is 1.
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
