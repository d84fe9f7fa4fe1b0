// Normalisation by given statistics (BatchNormalization) or by statistics of the input.
#include <algorithm>
#include <array>
#include <numeric>

#include "onnx/handlers.hpp"
#include "onnx/operators/term.hpp"

namespace polychron::onnx::detail {

namespace {

constexpr double default_epsilon = 1e-5F;

Term per_channel(Node& node, std::size_t i, std::size_t rank);

std::vector<std::uint32_t> all_but(std::size_t rank, std::uint32_t axis) {
  std::vector<std::uint32_t> axes;
  for (std::uint32_t d = 0; d < rank; ++d)
    if (d != axis) axes.push_back(d);
  return axes;
}

/// Training: uses the statistics of this batch, and moves the running statistics towards them.
void normalize_batch(Node& node, double epsilon) {
  const auto x = term(node, 0);
  const auto axes = all_but(x.rank(), 1);
  const auto mean = x.mean(axes, true);
  const auto off = x - mean;
  const auto variance = (off * off).mean(axes, true);
  const auto scaled = off / (variance + epsilon).sqrt() * per_channel(node, 1, x.rank());
  node.set((scaled + per_channel(node, 2, x.rank())).operand());
  const auto momentum = node.real("momentum", 0.9F);
  const auto moved = [&](std::size_t i, const Term& now) {
    return (term(node, i) * momentum + now.reshape(node.shape(i)) * (1 - momentum)).operand();
  };
  if (node.wants_output(1)) node.set(moved(3, mean), 1);
  if (node.wants_output(2)) node.set(moved(4, variance), 2);
}

/// Up to opset 13 its outputs show if it trains. Up to opset 8 statistics may be per element
/// instead of per channel.
void batch_normalization(Node& node) {
  const auto epsilon = node.real("epsilon", default_epsilon);
  if (node.integer("training_mode", 0) != 0) return normalize_batch(node, epsilon);
  if (node.opset < 7 && node.integer("is_test", 0) == 0 && node.wants_output(1))
    unsupported("training");
  for (std::size_t i = 1; i < node.output_count(); ++i) node.refuse_output(i, "running statistics");
  if (node.opset < 9 && node.integer("spatial", 1) == 0) {
    const auto one = [&](std::size_t i) { return term(node, i).reshape(node.shape(0).with(0, 1)); };
    const auto scaled = (term(node, 0) - one(3)) / (one(4) + epsilon).sqrt() * one(1) + one(2);
    return node.set(scaled.operand());
  }
  node.set(node.builder.batch_normalization(
      node.operand(0), node.operand(3), node.operand(4), {.epsilon = epsilon},
      {.scale = node.operand(1), .bias = node.operand(2)}, node.label()));
}

/// A vector with one entry for each channel, reshaped to broadcast over an input of `rank`.
Term per_channel(Node& node, std::size_t i, std::size_t rank) {
  const auto vector = node.operand(i);
  Shape shape(rank, 1);
  if (vector.shape().size() != 1) malformed("input " + std::to_string(i) + " must be a vector");
  if (rank < 2) malformed("rank " + std::to_string(rank) + ": there are no channels");
  shape[1] = vector.shape()[0];
  return Term(node, vector).reshape(shape);
}

void instance_normalization(Node& node) {
  const InstanceNormalizationAttributes attributes{.epsilon =
                                                       node.real("epsilon", default_epsilon)};
  const ScaleAndBias operands{.scale = node.operand(1), .bias = node.operand(2)};
  const auto input = node.operand(0);
  const auto shape = input.shape();
  if (shape.size() == 4)
    return node.set(node.builder.instance_normalization(input, attributes, operands, node.label()));
  if (shape.size() < 3) malformed("an input of shape " + to_string(shape));
  std::uint64_t rest = 1;
  for (std::size_t d = 2; d < shape.size(); ++d) rest *= shape[d];
  const auto flat = node.builder.reshape(
      input, {shape[0], shape[1], 1, static_cast<std::uint32_t>(rest)}, node.label());
  const auto result = node.builder.instance_normalization(flat, attributes, operands, node.label());
  node.set(node.builder.reshape(result, shape, node.label()));
}

/// Scale and bias may be broadcast in ONNX; WebNN's have the shape of the normalised dimensions.
void layer_normalization(Node& node) {
  const auto input = node.operand(0);
  const auto& shape = input.shape();
  const auto first = node.axis(node.integer("axis", -1), shape.size());
  LayerNormalizationAttributes attributes;
  attributes.epsilon = node.real("epsilon", default_epsilon);
  attributes.axes.emplace(shape.size() - first);
  std::iota(attributes.axes->begin(), attributes.axes->end(), first);
  if (node.wants_output(1) || node.wants_output(2)) {
    const Term x(node, input);
    const auto mean = x.mean(*attributes.axes, true);
    if (node.wants_output(1)) node.set(mean.operand(), 1);
    const auto off = x - mean;
    const auto variance = (off * off).mean(*attributes.axes, true);
    if (node.wants_output(2)) node.set((1 / (variance + attributes.epsilon).sqrt()).operand(), 2);
  }
  const Shape normalized(shape.begin() + first, shape.end());
  const auto scale = node.operand(1);
  const auto bias = node.optional_operand(2);
  const bool direct = scale.shape() == normalized && (!bias || bias->shape() == normalized);
  const auto operands = direct ? ScaleAndBias{scale, bias} : ScaleAndBias{};
  auto result = node.builder.layer_normalization(input, attributes, operands, node.label());
  if (!direct) {
    result = node.builder.mul(result, scale, node.label());
    if (bias) result = node.builder.add(result, *bias, node.label());
  }
  node.set(result);
}

/// By the mean square alone, in float32 as is ONNX's default: squares easily exceed float16's
/// range.
Term by_mean_square(const Term& input, std::uint32_t first, double epsilon, bool in_float32) {
  std::vector<std::uint32_t> axes(input.rank() - first);
  std::iota(axes.begin(), axes.end(), first);
  const auto x = in_float32 ? input.cast(DataType::float32) : input;
  const auto squares = (x * x).mean(axes, true);
  return (x / (squares + epsilon).sqrt()).cast(input.data_type());
}

void rms_normalization(Node& node) {
  node.refuse_output(1, "inv_std_var");
  const auto input = term(node, 0);
  const auto first = node.axis(node.integer("axis", -1), input.rank());
  const auto epsilon = node.real("epsilon", default_epsilon);
  const auto scaled = by_mean_square(input, first, epsilon, node.integer("stash_type", 1) == 1);
  node.set((scaled * term(node, 1)).operand());
}

/// Along the last axis. Input `scale` has the scale, the next one the optional bias.
Term by_moments(Node& node, const Term& x, std::size_t scale, double epsilon) {
  if (x.rank() == 0) malformed("a scalar has no axis");
  const auto last = static_cast<std::uint32_t>(x.rank() - 1);
  return x.with(node.builder.layer_normalization(
      x.operand(), {.axes = {{last}}, .epsilon = epsilon},
      {.scale = node.operand(scale), .bias = node.optional_operand(scale + 1)}, node.label()));
}

constexpr double skip_epsilon = 1e-12F;

/// Normalises the sum of input, skip and bias, which is also the last output. input, skip, gamma,
/// beta? (not if simplified), bias?
template <bool simplified>
void skip_normalization(Node& node) {
  node.refuse_output(1, "mean");
  node.refuse_output(2, "inv_std_var");
  auto sum = term(node, 0) + term(node, 1);
  constexpr std::size_t bias = simplified ? 3 : 4;
  if (node.has_input(bias)) sum = sum + term(node, bias);
  if (node.wants_output(3)) node.set(sum.operand(), 3);
  const auto epsilon = node.real("epsilon", skip_epsilon);
  if (!simplified) return node.set(by_moments(node, sum, 2, epsilon).operand());
  const auto last = node.axis(-1, sum.rank());
  node.set((by_mean_square(sum, last, epsilon, true) * term(node, 2)).operand());
}

/// input_ids, segment_ids?, word_embedding, position_embedding, segment_embedding?, gamma, beta,
/// mask?, position_ids?
void embed_normalization(Node& node) {
  const auto ids = term(node, 0);
  if (ids.rank() != 2) malformed("ids of shape " + to_string(ids.shape()));
  auto sum = term(node, 2).gather(ids, 0);
  sum = sum + (node.has_input(8) ? term(node, 3).gather(term(node, 8), 0)
                                 : term(node, 3).slice(0, 0, ids.shape()[1]));
  if (node.has_input(1)) sum = sum + term(node, 4).gather(term(node, 1), 0);
  node.set(by_moments(node, sum, 5, node.real("epsilon", skip_epsilon)).operand());
  if (node.wants_output(1)) {
    const auto none = ids.with(node.builder.constant(DataType::int32, std::int64_t{0}));
    const auto lengths = node.has_input(7) ? term(node, 7).cast(DataType::int32).sum({1})
                                           : none.expand({ids.shape()[0]});
    node.set(lengths.operand(), 1, ElementType::int32);
  }
  if (node.wants_output(2)) node.set(sum.operand(), 2);
}

/// Groups of channels are normalised as rows. Scale and bias are per channel since opset 21, per
/// group before.
void group_normalization(Node& node) {
  const auto input = node.operand(0);
  const auto shape = input.shape();
  const auto groups = unsigned_list({node.integer("num_groups", 0)}, "num_groups").front();
  if (shape.size() < 2 || groups == 0 || shape[1] % groups != 0)
    malformed(std::to_string(groups) + " groups of an input of shape " + to_string(shape));
  std::uint64_t rest = shape[1] / groups;
  for (std::size_t d = 2; d < shape.size(); ++d) rest *= shape[d];
  const auto epsilon = node.real("epsilon", default_epsilon);
  const Shape rows{shape[0], groups, static_cast<std::uint32_t>(rest)};
  auto result =
      node.builder.layer_normalization(node.builder.reshape(input, rows, node.label()),
                                       {.axes = {{2}}, .epsilon = epsilon}, {}, node.label());
  const bool per_group = node.opset < 21;
  if (!per_group) result = node.builder.reshape(result, shape, node.label());
  const auto rank = per_group ? rows.size() : shape.size();
  result = node.builder.mul(result, per_channel(node, 1, rank).operand(), node.label());
  result = node.builder.add(result, per_channel(node, 2, rank).operand(), node.label());
  if (per_group) result = node.builder.reshape(result, shape, node.label());
  node.set(result);
}

/// Over `size` neighbouring channels: x / (bias + alpha / size sum of squares) ^ beta.
void local_response(Node& node) {
  const auto x = term(node, 0);
  const auto size = unsigned_list({node.integer("size", 0)}, "attribute 'size'").front();
  if (x.rank() < 2 || size == 0) malformed("a size of " + std::to_string(size));
  const auto channels = x.shape()[1];
  const auto before = std::min((size - 1) / 2, channels);
  const auto after = std::min(size - 1 - (size - 1) / 2, channels);
  // With channels as rows, the sum over the window's channels is a mean over a window in height.
  std::uint64_t rest = 1;
  for (std::size_t d = 2; d < x.rank(); ++d) rest *= x.shape()[d];
  const auto squares = (x * x)
                           .reshape({x.shape()[0], 1, channels, static_cast<std::uint32_t>(rest)})
                           .pad(2, before, after);
  const Pool2dAttributes window{.window_dimensions = {{before + after + 1, 1}}};
  const auto mean = x.with(node.builder.average_pool2d(squares.operand(), window, node.label()))
                        .reshape(x.shape());
  const auto scale = node.real("alpha", 0.0001F) * (before + after + 1.0) / size;
  const auto base = mean * scale + node.real("bias", 1);
  const auto power = x.number(node.real("beta", 0.75));
  node.set((x / x.with(node.builder.pow(base.operand(), power.operand(), node.label()))).operand());
}

void mean_variance(Node& node) {
  const auto x = term(node, 0);
  const auto given = node.integer_list("axes").value_or(std::vector<std::int64_t>{0, 2, 3});
  const auto axes = node.axes(given, x.rank());
  const auto off = x - x.mean(axes, true);
  node.set((off / ((off * off).mean(axes, true).sqrt() + 1e-9)).operand());
}

void lp_normalization(Node& node) {
  const auto x = term(node, 0);
  const auto axis = node.axis(node.integer("axis", -1), x.rank());
  const auto p = node.integer("p", 2);
  if (p != 1 && p != 2) malformed("attribute 'p' is " + std::to_string(p));
  const auto norm =
      x.reduce(p == 1 ? &GraphBuilder::reduce_l1 : &GraphBuilder::reduce_l2, {axis}, true);
  node.set((norm == 0).choose(x.number(0), x / norm).operand());
}

}  // namespace

std::span<const Row> normalization_rows() noexcept {
  static constexpr std::array rows{
      Row{"BatchNormalization", batch_normalization},
      Row{"GroupNormalization", group_normalization},
      Row{"InstanceNormalization", instance_normalization},
      Row{"LRN", local_response},
      Row{"LayerNormalization", layer_normalization},
      Row{"LpNormalization", lp_normalization},
      Row{"MeanVarianceNormalization", mean_variance},
      Row{"RMSNormalization", rms_normalization},
      // ONNX Runtime's. The first has no domain of its own there.
      Row{"SimplifiedLayerNormalization", rms_normalization},
      Row{"com.microsoft:EmbedLayerNormalization", embed_normalization},
      Row{"com.microsoft:SkipLayerNormalization", skip_normalization<false>},
      Row{"com.microsoft:SkipSimplifiedLayerNormalization", skip_normalization<true>},
  };
  return rows;
}

}  // namespace polychron::onnx::detail
