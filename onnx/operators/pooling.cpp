// Pooling in one and two dimensions, and over the whole input.
#include <array>

#include "onnx/handlers.hpp"
#include "onnx/operators/window.hpp"

namespace polychron::onnx::detail {

namespace {

using Pool = Operand (GraphBuilder::*)(const Operand&, const Pool2dOptions&);
using Reduce = Operand (GraphBuilder::*)(const Operand&, const ReduceOptions&);

/// ONNX's output size. With ceil_mode a last window that would begin in the padding at the end is
/// dropped, which WebNN's rounding does not do: the sizes are given explicitly.
std::uint64_t output_size(const Window& window, std::size_t d, bool ceil_mode) {
  const auto padded = window.input[d] + window.pads_begin[d] + window.pads_end[d];
  if (window.extent(d) > padded) malformed("the window is larger than the padded input");
  const auto room = padded - window.extent(d);
  const auto stride = window.strides[d];
  if (!ceil_mode) return room / stride + 1;
  const auto size = (room + stride - 1) / stride + 1;
  const bool in_padding = (size - 1) * stride >= window.input[d] + window.pads_begin[d];
  return in_padding ? size - 1 : size;
}

Pool2dOptions pool_options(Node& node, const Window& window) {
  const bool ceil_mode = node.integer("ceil_mode", 0) != 0;
  auto options = node.options<Pool2dOptions>();
  options.window_dimensions = to_list(window.kernel);
  options.padding = window.padding();
  options.strides = to_list(window.strides);
  options.dilations = to_list(window.dilations);
  if (ceil_mode)
    options.output_sizes = to_list({output_size(window, 0, true), output_size(window, 1, true)});
  return options;
}

void max_pool(Node& node) {
  node.refuse_output(1, "Indices");
  const auto options = pool_options(node, read_window(node, {}));
  node.set(lowered(node, node.builder.max_pool2d(lifted(node, 0), options)));
}

/// WebNN averages over what is not padding. To count the padding it is made part of the input.
void average_pool(Node& node) {
  auto options = pool_options(node, read_window(node, {}));
  auto input = lifted(node, 0);
  if (node.integer("count_include_pad", 0) != 0 &&
      options.padding != std::vector<std::uint32_t>{0, 0, 0, 0}) {
    const auto& p = options.padding;
    auto pad_options = node.options<PadOptions>();
    input = node.builder.pad(input, {0, 0, p[0], p[2]}, {0, 0, p[1], p[3]}, pad_options);
    options.padding = {0, 0, 0, 0};
  }
  node.set(lowered(node, node.builder.average_pool2d(input, options)));
}

template <Pool pool, Reduce reduce>
void global_pool(Node& node) {
  if (node.rank(0) == 4)
    return node.set((node.builder.*pool)(node.operand(0), node.options<Pool2dOptions>()));
  auto options = node.options<ReduceOptions>();
  options.keep_dimensions = true;
  options.axes.emplace();
  for (std::uint32_t d = 2; d < node.rank(0); ++d) options.axes->push_back(d);
  node.set((node.builder.*reduce)(node.operand(0), options));
}

using B = GraphBuilder;
constexpr std::array rows{
    Row{"AveragePool", average_pool},
    Row{"GlobalAveragePool", global_pool<&B::average_pool2d, &B::reduce_mean>},
    Row{"GlobalMaxPool", global_pool<&B::max_pool2d, &B::reduce_max>},
    Row{"MaxPool", max_pool},
};

}  // namespace

std::span<const Row> pooling_rows() noexcept { return rows; }

}  // namespace polychron::onnx::detail
