// Normalisation by statistics that are given (BatchNormalization) or taken from the input.
#include <array>
#include <numeric>

#include "onnx/handlers.hpp"

namespace polychron::onnx::detail {

namespace {

constexpr double default_epsilon = 1e-5F;

void batch_normalization(Node& node) {
  if (node.integer("training_mode", 0) != 0) unsupported("training");
  for (std::size_t i = 1; i < node.output_count(); ++i) node.refuse_output(i, "running statistics");
  auto options = node.options<BatchNormalizationOptions>();
  options.epsilon = node.real("epsilon", default_epsilon);
  options.scale = node.operand(1);
  options.bias = node.operand(2);
  node.set(
      node.builder.batch_normalization(node.operand(0), node.operand(3), node.operand(4), options));
}

/// A vector with an entry a channel, shaped to be broadcast over an input of `rank`.
Operand per_channel(Node& node, std::size_t i, std::size_t rank) {
  const auto vector = node.operand(i);
  Shape shape(rank, 1);
  if (vector.shape().size() != 1) malformed("input " + std::to_string(i) + " must be a vector");
  shape[1] = vector.shape()[0];
  return node.builder.reshape(vector, shape, node.options());
}

void instance_normalization(Node& node) {
  auto options = node.options<InstanceNormalizationOptions>();
  options.epsilon = node.real("epsilon", default_epsilon);
  options.scale = node.operand(1);
  options.bias = node.operand(2);
  const auto input = node.operand(0);
  const auto shape = input.shape();
  if (shape.size() == 4) return node.set(node.builder.instance_normalization(input, options));
  if (shape.size() < 3) malformed("an input of shape " + to_string(shape));
  std::uint64_t rest = 1;
  for (std::size_t d = 2; d < shape.size(); ++d) rest *= shape[d];
  const auto flat = node.builder.reshape(
      input, {shape[0], shape[1], 1, static_cast<std::uint32_t>(rest)}, node.options());
  const auto result = node.builder.instance_normalization(flat, options);
  node.set(node.builder.reshape(result, shape, node.options()));
}

/// Scale and bias may be broadcast in ONNX; WebNN's have the shape of the normalised dimensions.
void layer_normalization(Node& node) {
  node.refuse_output(1, "Mean");
  node.refuse_output(2, "InvStdDev");
  const auto input = node.operand(0);
  const auto& shape = input.shape();
  const auto first = node.axis(node.integer("axis", -1), shape.size());
  auto options = node.options<LayerNormalizationOptions>();
  options.epsilon = node.real("epsilon", default_epsilon);
  options.axes.emplace(shape.size() - first);
  std::iota(options.axes->begin(), options.axes->end(), first);
  const Shape normalized(shape.begin() + first, shape.end());
  const auto scale = node.operand(1);
  const auto bias = node.optional_operand(2);
  const bool direct = scale.shape() == normalized && (!bias || bias->shape() == normalized);
  if (direct) {
    options.scale = scale;
    options.bias = bias;
  }
  auto result = node.builder.layer_normalization(input, options);
  if (!direct) {
    result = node.builder.mul(result, scale, node.options());
    if (bias) result = node.builder.add(result, *bias, node.options());
  }
  node.set(result);
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
  auto options = node.options<LayerNormalizationOptions>();
  options.epsilon = node.real("epsilon", default_epsilon);
  options.axes = {2};
  const Shape rows{shape[0], groups, static_cast<std::uint32_t>(rest)};
  auto result =
      node.builder.layer_normalization(node.builder.reshape(input, rows, node.options()), options);
  const bool per_group = node.opset < 21;
  if (!per_group) result = node.builder.reshape(result, shape, node.options());
  const auto rank = per_group ? rows.size() : shape.size();
  result = node.builder.mul(result, per_channel(node, 1, rank), node.options());
  result = node.builder.add(result, per_channel(node, 2, rank), node.options());
  if (per_group) result = node.builder.reshape(result, shape, node.options());
  node.set(result);
}

constexpr std::array rows{
    Row{"BatchNormalization", batch_normalization},
    Row{"GroupNormalization", group_normalization},
    Row{"InstanceNormalization", instance_normalization},
    Row{"LayerNormalization", layer_normalization},
};

}  // namespace

std::span<const Row> normalization_rows() noexcept { return rows; }

}  // namespace polychron::onnx::detail
