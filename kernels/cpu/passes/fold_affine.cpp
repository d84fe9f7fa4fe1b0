// Folds the scale and shift of each output channel into the constant weights and bias of the
// convolution or product before it. Takes batchNormalization, linear, and arithmetic with a
// constant vector.
#include <algorithm>
#include <cmath>

#include "kernels/cpu/passes/match.hpp"
#include "kernels/cpu/passes/passes.hpp"
#include "ops/layouts.hpp"

namespace polychron::kernels {
namespace {

using ops::op;

/// y = scale * x + shift, with one number per channel.
struct ChannelAffine {
  std::vector<float> scale, shift;
  /// True for a batchNormalization. Channels that a network does not use may have any scale, and
  /// weights that may as well be 0.
  bool normalizes = false;
};

std::optional<ChannelAffine> batch_normalization(const PlanGraph& graph, const PlanNode& node,
                                                 std::size_t axis) {
  const auto& a = std::get<BatchNormalizationAttributes>(node.attributes);
  if (a.axis != axis) return std::nullopt;
  for (std::size_t i = 1; i < node.inputs.size(); ++i)
    if (node.inputs[i] != ops::no_value && !graph.is_constant(node.inputs[i])) return std::nullopt;
  const auto element = [&](std::size_t input, std::size_t i, double otherwise) {
    if (input >= node.inputs.size() || node.inputs[input] == ops::no_value) return otherwise;
    return static_cast<double>(floats_of(graph.values[node.inputs[input]])[i]);
  };
  ChannelAffine affine{{}, {}, true};
  const std::size_t channels = floats_of(graph.values[node.inputs[1]]).size();
  for (std::size_t i = 0; i < channels; ++i) {
    const double scale = element(3, i, 1) / std::sqrt(element(2, i, 1) + a.epsilon);
    affine.scale.push_back(static_cast<float>(scale));
    affine.shift.push_back(static_cast<float>(element(4, i, 0) - element(1, i, 0) * scale));
  }
  return affine;
}

/// `node` as an affine function of its operand `x`, along dimension `axis`.
std::optional<ChannelAffine> affine_of(const PlanGraph& graph, const Matcher& match,
                                       const PlanNode& node, ops::ValueId x, std::size_t axis) {
  const Shape& shape = match.descriptor(x).shape;
  const std::size_t channels = shape[axis];
  if (match.descriptor(node.outputs[0]).shape != shape || !node.post_ops.empty())
    return std::nullopt;
  if (node.op == op("batchNormalization") && node.inputs[0] == x)
    return batch_normalization(graph, node, axis);
  if (node.op == op("linear")) {
    const auto& a = std::get<LinearAttributes>(node.attributes);
    return ChannelAffine{std::vector(channels, static_cast<float>(a.alpha)),
                         std::vector(channels, static_cast<float>(a.beta))};
  }
  const bool add = node.op == op("add"), sub = node.op == op("sub"), mul = node.op == op("mul");
  if (!add && !mul && !(sub && node.inputs[0] == x)) return std::nullopt;
  const auto vector = match.vector(node.inputs[node.inputs[0] == x ? 1 : 0], shape, axis);
  if (!vector) return std::nullopt;
  ChannelAffine affine{std::vector(channels, 1.0F), std::vector(channels, 0.0F)};
  (mul ? affine.scale : affine.shift) = *vector;
  if (sub)
    for (float& value : affine.shift) value = -value;
  return affine;
}

/// The filter's dimension of output channels, and the result's dimension of channels.
struct FilterAxis {
  std::size_t axis = 0;
  std::size_t channel_axis = 1;  ///< of the result
};

template <class A>
FilterAxis convolution_axes(const A& a) {
  return {ops::filter_axes(a.filter_layout)[0], ops::picture_axes(a.input_layout)[1]};
}

std::optional<FilterAxis> filter_axis(const PlanNode& node, const Shape& result) {
  if (const auto* a = std::get_if<Conv2dAttributes>(&node.attributes)) return convolution_axes(*a);
  if (const auto* a = std::get_if<ConvTranspose2dAttributes>(&node.attributes)) {
    if (a->groups != 1) return std::nullopt;
    return convolution_axes(*a);
  }
  const auto* const gemm = std::get_if<GemmAttributes>(&node.attributes);
  return FilterAxis{gemm != nullptr && gemm->b_transpose ? 0U : 1U, result.size() - 1};
}

/// True if the scaled weight is finite and has the precision of `weight`. `lenient` also accepts
/// values near 0.
bool keeps_precision(float weight, float scaled, bool lenient) {
  if (!std::isfinite(scaled)) return false;
  return lenient || std::isnormal(scaled) || !std::isnormal(weight);
}

/// The filter with each output channel scaled; nullopt if a weight leaves float32's range.
std::optional<ops::ValueId> scaled_filter(PlanGraph& graph, ops::ValueId filter, std::size_t axis,
                                          const ChannelAffine& affine) {
  PlanValue scaled = graph.values[filter];
  const Shape& shape = scaled.descriptor.shape;
  const auto floats = floats_of(graph.values[filter]);
  // Written once, in its final place: filters are most of a model.
  auto bytes = Buffer::uninitialized(floats.size_bytes());
  std::size_t inner = 1;
  for (std::size_t i = axis + 1; i < shape.size(); ++i) inner *= shape[i];
  const auto to = bytes.as<float>();
  bool precise = true;
  for (std::size_t begin = 0; begin < floats.size(); begin += inner) {
    const float factor = affine.scale[begin / inner % shape[axis]];
    for (std::size_t i = begin; i < begin + inner; ++i) {
      to[i] = floats[i] * factor;
      precise = precise && keeps_precision(floats[i], to[i], affine.normalizes);
    }
  }
  if (!precise) return std::nullopt;
  scaled.constant = std::make_shared<const Buffer>(std::move(bytes));
  return graph.add_value(std::move(scaled));
}

/// The bias scaled and shifted. nullopt if it leaves float32's range. nullopt also if large numbers
/// cancel out, because a model may use them to round the sum.
std::optional<std::vector<float>> shifted_bias(const PlanGraph& graph, const PlanNode& node,
                                               const ChannelAffine& affine) {
  constexpr float large = 1024, most_lost = 0x1p-10F;
  std::vector<float> bias = affine.shift;
  const bool biased = node.inputs.size() > 2 && node.inputs[2] != ops::no_value;
  for (std::size_t i = 0; i < bias.size(); ++i) {
    if (biased) {
      const float scaled = floats_of(graph.values[node.inputs[2]])[i] * affine.scale[i];
      const float most = std::fmax(std::fabs(scaled), std::fabs(affine.shift[i]));
      bias[i] += scaled;
      if (most > large && std::fabs(bias[i]) < most_lost * most) return std::nullopt;
    }
    if (!std::isfinite(bias[i])) return std::nullopt;
  }
  return bias;
}

/// Convolutions have a bias operand; products get a bias from fuse_post_ops.
bool has_bias_operand(const PlanNode& node) { return is(node.op, ops::Family::convolution); }

/// True for a matrix product alone.
bool multiplies(const PlanNode& node) {
  if (node.op == op("matmul")) return true;
  const auto* const gemm = std::get_if<GemmAttributes>(&node.attributes);
  return gemm != nullptr && gemm->alpha == 1 &&
         (node.own_inputs < 3 || node.inputs[2] == ops::no_value);
}

bool is_target(const PlanGraph& graph, const PlanNode& node) {
  const bool product = multiplies(node);
  if (!product && !has_bias_operand(node)) return false;
  if (!node.post_ops.empty() || !graph.is_constant(node.inputs[1])) return false;
  const PlanValue& filter = graph.values[node.inputs[1]];
  if (filter.descriptor.data_type != DataType::float32) return false;
  if (product && filter.descriptor.shape.size() != 2) return false;
  return node.inputs.size() < 3 || node.inputs[2] == ops::no_value ||
         graph.is_constant(node.inputs[2]);
}

/// Scaling a filter that other nodes also read makes a copy. `bytes` is what copies may still add.
bool absorb(PlanGraph& graph, const Matcher& match, PlanNode& node, const FilterAxis& where,
            const ChannelAffine& affine, std::uint64_t& bytes) {
  const bool scales = std::ranges::any_of(affine.scale, [](float value) { return value != 1; });
  const bool shifts = std::ranges::any_of(affine.shift, [](float value) { return value != 0; });
  if (shifts && !has_bias_operand(node)) return false;
  std::optional<std::vector<float>> bias;
  if (has_bias_operand(node) && !(bias = shifted_bias(graph, node, affine))) return false;
  if (scales) {
    const std::size_t size = graph.values[node.inputs[1]].constant->size();
    const bool own = match.uses().consumers[node.inputs[1]].size() <= 1;
    if (!own && size > bytes) return false;
    const auto filter = scaled_filter(graph, node.inputs[1], where.axis, affine);
    if (!filter) return false;
    if (!own) bytes -= size;
    node.inputs[1] = *filter;
  }
  if (!bias) return true;
  node.inputs.resize(3, ops::no_value);
  node.inputs[2] = graph.add_constant({static_cast<std::uint32_t>(bias->size())}, *bias);
  node.own_inputs = 3;
  return true;
}

}  // namespace

void fold_affine(PlanGraph& graph) {
  Matcher match(graph);
  std::uint64_t bytes = most_bytes_added(graph);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (!is_target(graph, graph.nodes[i])) continue;
    for (;;) {
      PlanNode& node = graph.nodes[i];
      const ops::ValueId result = node.outputs[0];
      const std::size_t next = only_consumer(graph, match.uses(), result);
      const auto where = filter_axis(node, match.descriptor(result).shape);
      if (next == Uses::none || !where) break;
      const auto affine = affine_of(graph, match, graph.nodes[next], result, where->channel_axis);
      PlanNode changed = node;
      if (!affine || !absorb(graph, match, changed, *where, *affine, bytes)) break;
      match.forget(next);
      match.forget(i);
      changed.outputs = graph.nodes[next].outputs;
      node = std::move(changed);
      graph.nodes[next].removed = true;
      match.learn(i);
    }
  }
  graph.sweep();
}

}  // namespace polychron::kernels
