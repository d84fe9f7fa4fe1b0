// Pooling in one to three dimensions, and over the whole input.
#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "onnx/handlers.hpp"
#include "onnx/operators/iota.hpp"
#include "onnx/operators/window.hpp"

namespace polychron::onnx::detail {

namespace {

using Pool = Operand (GraphBuilder::*)(const Operand&, const Pool2dAttributes&,
                                       GraphBuilder::Label);
using Reduce = Operand (GraphBuilder::*)(const Operand&, const ReduceAttributes&,
                                         GraphBuilder::Label);

/// ONNX's output size. With ceil_mode ONNX drops a last window that would begin in the padding at
/// the end. WebNN's rounding keeps it, so the sizes are given explicitly.
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

Pool2dAttributes pool_attributes(Node& node, const Window& window) {
  const bool ceil_mode = node.integer("ceil_mode", 0) != 0;
  Pool2dAttributes attributes;
  attributes.window_dimensions = to_list(window.kernel);
  attributes.padding = window.padding();
  attributes.strides = to_list(window.strides);
  attributes.dilations = to_list(window.dilations);
  if (ceil_mode)
    attributes.output_sizes = to_list({output_size(window, 0, true), output_size(window, 1, true)});
  return attributes;
}

/// Pools over three dimensions by pooling each plane, and then across planes. The mean of means is
/// right, because all windows have the same number of elements.
Term pool_planes(const Term& x, const Pool2dAttributes& plane, const Pool2dAttributes& depth,
                 Pool pool) {
  auto& builder = x.node().builder;
  const auto s = x.shape();
  auto y = x.with((builder.*pool)(x.reshape({s[0] * s[1], s[2], s[3], s[4]}).operand(), plane,
                                  x.node().label()));
  const auto flat = y.shape();
  y = y.reshape({s[0], s[1], s[2], flat[2] * flat[3]});
  y = y.with((builder.*pool)(y.operand(), depth, x.node().label()));
  return y.reshape({s[0], s[1], y.shape()[2], flat[2], flat[3]});
}

/// Pads with zeros in place of a pool, whose `padding` it clears: two numbers for each axis from
/// `axis` on.
Term padded(const Term& x, std::uint32_t axis, std::span<std::uint32_t> padding) {
  if (std::ranges::all_of(padding, [](std::uint32_t n) { return n == 0; })) return x;
  std::vector<std::uint32_t> beginning(x.rank(), 0), ending(x.rank(), 0);
  for (std::size_t i = 0; i < padding.size(); i += 2, ++axis) {
    beginning[axis] = std::exchange(padding[i], 0);
    ending[axis] = std::exchange(padding[i + 1], 0);
  }
  auto& node = x.node();
  return x.with(node.builder.pad(
      x.operand(), {.beginning_padding = beginning, .ending_padding = ending}, node.label()));
}

Term deep_pool(Term x, Pool pool, bool with_padding) {
  auto& node = x.node();
  const auto [plane, depth] = read_deep_window(node, {});
  auto plane_attributes = pool_attributes(node, plane);
  auto depth_attributes = pool_attributes(node, depth);
  // The depth pool sees each plane as a row of all its elements.
  if (depth_attributes.output_sizes && plane_attributes.output_sizes)
    (*depth_attributes.output_sizes)[1] =
        (*plane_attributes.output_sizes)[0] * (*plane_attributes.output_sizes)[1];
  if (with_padding) {
    x = padded(x, 2, std::span(depth_attributes.padding).first(2));
    x = padded(x, 3, plane_attributes.padding);
  }
  return pool_planes(x, plane_attributes, depth_attributes, pool);
}

/// The position of the largest element in each window, the first of several. It lays out the
/// elements of all windows, so it suits only small windows.
Term largest_positions(Node& node, const Window& window, const Term& pooled) {
  const auto x = lifted(node, term(node, 0)).cast(DataType::float32);
  const auto elements = window.kernel[0] * window.kernel[1];
  if (elements > 1024 || elements * count(pooled.shape()) > (1U << 26))
    unsupported("output 'Indices' of windows with too many elements");
  const auto u32 = [](std::uint64_t n) { return static_cast<std::uint32_t>(n); };
  const auto out = pooled.shape();
  // Enough padding for every window; WebNN's pool may end earlier.
  auto wide = x;
  for (std::uint32_t d = 0; d < 2; ++d) {
    const auto end = (out[2 + d] - 1) * window.strides[d] + window.extent(d);
    const auto have = window.input[d] + window.pads_begin[d];
    wide = wide.pad(2 + d, u32(window.pads_begin[d]), end > have ? u32(end - have) : 0, -INFINITY);
  }
  std::optional<Term> best, at;
  for (std::uint64_t i = 0; i < elements; ++i) {
    node.importer.spend(8);
    const std::array<std::uint64_t, 2> offset{i / window.kernel[1] * window.dilations[0],
                                              i % window.kernel[1] * window.dilations[1]};
    auto part = wide;
    for (std::uint32_t d = 0; d < 2; ++d)
      part = part.slice(2 + d, u32(offset[d]),
                        u32(offset[d] + (out[2 + d] - 1) * window.strides[d] + 1),
                        u32(window.strides[d]));
    // The position of this offset in the unpadded input: row x width + column, or transposed.
    const auto row =
        iota(node, DataType::int64, 4, 2, out[2]) * static_cast<double>(window.strides[0]) +
        (static_cast<double>(offset[0]) - static_cast<double>(window.pads_begin[0]));
    const auto column =
        iota(node, DataType::int64, 4, 3, out[3]) * static_cast<double>(window.strides[1]) +
        (static_cast<double>(offset[1]) - static_cast<double>(window.pads_begin[1]));
    const bool by_column = node.integer("storage_order", 0) != 0;
    const auto place = by_column ? column * static_cast<double>(window.input[0]) + row
                                 : row * static_cast<double>(window.input[1]) + column;
    if (!best) {
      best = part;
      at = place.expand(out);
      continue;
    }
    const auto better = part > *best;
    at = better.choose(place, *at);
    best = better.choose(part, *best);
  }
  const auto batch = iota(node, DataType::int64, 4, 0, out[0]) * static_cast<double>(out[1]) +
                     iota(node, DataType::int64, 4, 1, out[1]);
  return *at + batch * static_cast<double>(window.input[0] * window.input[1]);
}

void max_pool(Node& node) {
  if (node.rank(0) == 5) {
    node.refuse_output(1, "Indices");
    return node.set(deep_pool(term(node, 0), &GraphBuilder::max_pool2d, false).operand());
  }
  const auto window = read_window(node, {});
  const Term result(
      node, node.builder.max_pool2d(lifted(node, 0), pool_attributes(node, window), node.label()));
  node.set(lowered(node, result).operand());
  if (node.wants_output(1))
    node.set(lowered(node, largest_positions(node, window, result)).operand(), 1,
             ElementType::int64);
}

/// WebNN averages without the padding. To count it, make the padding part of the input.
void average_pool(Node& node) {
  const bool with_padding = node.integer("count_include_pad", 0) != 0;
  if (node.rank(0) == 5)
    return node.set(
        deep_pool(term(node, 0), &GraphBuilder::average_pool2d, with_padding).operand());
  auto attributes = pool_attributes(node, read_window(node, {}));
  auto input = lifted(node, term(node, 0));
  if (with_padding) input = padded(input, 2, attributes.padding);
  node.set(lowered(node, node.builder.average_pool2d(input.operand(), attributes, node.label())));
}

Term power(const Term& x, double exponent) {
  auto& node = x.node();
  return x.with(node.builder.pow(x.operand(), x.number(exponent).operand(), node.label()));
}

/// (sum of |x|^p)^(1/p): a mean of powers times the number of elements, padding counted as 0.
void lp_pool(Node& node) {
  const auto p = static_cast<double>(node.integer("p", 2));
  const auto finish = [&](const Term& means, double elements) {
    return power(means * elements, 1 / p);
  };
  if (node.rank(0) == 5) {
    const auto [plane, depth] = read_deep_window(node, {});
    const auto elements = depth.kernel[0] * plane.kernel[0] * plane.kernel[1];
    const auto means =
        deep_pool(power(term(node, 0).abs(), p), &GraphBuilder::average_pool2d, true);
    return node.set(finish(means, static_cast<double>(elements)).operand());
  }
  const auto window = read_window(node, {});
  auto attributes = pool_attributes(node, window);
  auto x = lifted(node, term(node, 0)).abs();
  x = padded(x, 2, attributes.padding);
  x = power(x, p);
  x = x.with(node.builder.average_pool2d(x.operand(), attributes, node.label()));
  x = finish(x, static_cast<double>(window.kernel[0] * window.kernel[1]));
  node.set(lowered(node, x).operand());
}

void global_lp_pool(Node& node) {
  const auto p = static_cast<double>(node.integer("p", 2));
  auto x = term(node, 0).abs();
  std::vector<std::uint32_t> axes;
  for (std::uint32_t d = 2; d < x.rank(); ++d) axes.push_back(d);
  node.set(power(power(x, p).sum(axes, true), 1 / p).operand());
}

template <Pool pool, Reduce reduce>
void global_pool(Node& node) {
  if (node.rank(0) == 4) return node.set((node.builder.*pool)(node.operand(0), {}, node.label()));
  ReduceAttributes attributes;
  attributes.keep_dimensions = true;
  attributes.axes.emplace();
  for (std::uint32_t d = 2; d < node.rank(0); ++d) attributes.axes->push_back(d);
  node.set((node.builder.*reduce)(node.operand(0), attributes, node.label()));
}

using B = GraphBuilder;
}  // namespace

std::span<const Row> pooling_rows() noexcept {
  static constexpr std::array rows{
      Row{"AveragePool", average_pool},
      Row{"GlobalAveragePool", global_pool<&B::average_pool2d, &B::reduce_mean>},
      Row{"GlobalLpPool", global_lp_pool},
      Row{"GlobalMaxPool", global_pool<&B::max_pool2d, &B::reduce_max>},
      Row{"LpPool", lp_pool},
      Row{"MaxPool", max_pool},
  };
  return rows;
}

}  // namespace polychron::onnx::detail
