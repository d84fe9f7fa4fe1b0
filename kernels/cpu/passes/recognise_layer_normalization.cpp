// Finds (x - mean(x)) / sqrt(mean((x - mean(x))^2) + epsilon) * scale + bias, and
// x / sqrt(mean(x^2) + epsilon) * scale, over the last dimension, as exporters write them.
#include "kernels/rms_normalization.hpp"

#include "kernels/cpu/passes/match.hpp"
#include "kernels/cpu/passes/passes.hpp"

namespace polychron::kernels {
namespace {

using ops::op;

/// The operand of a mean over the last dimension that keeps this dimension.
std::optional<ops::ValueId> mean_of(const Matcher& match, ops::ValueId value) {
  const PlanNode* mean = match.only_made_by(value, op("reduceMean"));
  if (mean == nullptr) return std::nullopt;
  const auto& a = std::get<ReduceAttributes>(mean->attributes);
  const std::size_t rank = match.descriptor(mean->inputs[0]).shape.size();
  if (!a.axes || a.axes->size() != 1 || a.axes->front() + 1 != rank || !a.keep_dimensions)
    return std::nullopt;
  return mean->inputs[0];
}

/// True if `value` is the square of `x`.
bool is_square(const Matcher& match, ops::ValueId value, ops::ValueId x) {
  if (const PlanNode* product = match.only_made_by(value, op("mul")))
    return product->inputs[0] == x && product->inputs[1] == x;
  const PlanNode* power = match.only_made_by(value, op("pow"));
  return power != nullptr && power->inputs[0] == x && match.scalar(power->inputs[1]) == 2.0F;
}

struct Normalized {
  ops::ValueId x;
  double epsilon;
};

std::optional<Normalized> normalized_by(const Matcher& match, const PlanNode& division) {
  const ops::ValueId centred = division.inputs[0];
  const PlanNode* root = match.only_made_by(division.inputs[1], op("sqrt"));
  const PlanNode* difference = match.made_by(centred, op("sub"));
  if (root == nullptr || difference == nullptr) return std::nullopt;
  const PlanNode* shifted = match.only_made_by(root->inputs[0], op("linear"));
  if (shifted == nullptr) return std::nullopt;
  const auto& epsilon = std::get<LinearAttributes>(shifted->attributes);
  const auto squared = mean_of(match, shifted->inputs[0]);
  const auto x = mean_of(match, difference->inputs[1]);
  if (!squared || !is_square(match, *squared, centred) || x != difference->inputs[0] ||
      epsilon.alpha != 1)
    return std::nullopt;
  return Normalized{*x, epsilon.beta};
}

/// The only reader of `value`, if it is `id` and its other operand is a constant vector along the
/// last dimension. Returns the reader and that constant with the shape [columns].
std::optional<std::pair<std::size_t, ops::ValueId>> scaled_by(PlanGraph& graph,
                                                              const Matcher& match,
                                                              ops::ValueId value, ops::OpId id) {
  const std::size_t reader = only_consumer(graph, match.uses(), value);
  if (reader == Uses::none || graph.nodes[reader].op != id) return std::nullopt;
  const PlanNode& node = graph.nodes[reader];
  const Shape shape = match.descriptor(value).shape;
  if (match.descriptor(node.outputs[0]).shape != shape) return std::nullopt;
  const ops::ValueId other = node.inputs[node.inputs[0] == value ? 1 : 0];
  const auto vector = match.vector(other, shape, shape.size() - 1);
  if (!vector) return std::nullopt;
  return std::pair(reader, graph.add_constant({shape.back()}, *vector));
}

/// The row and epsilon of sqrt(mean(x^2) + epsilon), if `value` is that.
std::optional<Normalized> root_mean_square(const Matcher& match, ops::ValueId value) {
  const PlanNode* const root = match.only_made_by(value, op("sqrt"));
  const PlanNode* const sum =
      root == nullptr ? nullptr : match.only_made_by(root->inputs[0], op("add"));
  if (sum == nullptr) return std::nullopt;
  for (const auto& [mean, other] : both_orders) {
    const auto epsilon = match.scalar(sum->inputs[other]);
    const auto squares = mean_of(match, sum->inputs[mean]);
    if (!epsilon || !squares) continue;
    for (const ops::OpId square : {op("mul"), op("pow")})
      if (const PlanNode* const made = match.made_by(*squares, square))
        if (is_square(match, *squares, made->inputs[0]))
          return Normalized{made->inputs[0], double{*epsilon}};
  }
  return std::nullopt;
}

/// The root of which `value` is the reciprocal.
std::optional<ops::ValueId> inverted(const Matcher& match, ops::ValueId value) {
  if (const PlanNode* const inverse = match.only_made_by(value, op("reciprocal")))
    return inverse->inputs[0];
  const PlanNode* const quotient = match.only_made_by(value, op("div"));
  if (quotient == nullptr || match.scalar(quotient->inputs[0]) != 1.0F) return std::nullopt;
  return quotient->inputs[1];
}

/// True if `x` is a row minus its mean: what follows is a layerNormalization.
bool is_centred(const Matcher& match, ops::ValueId x) {
  const PlanNode* const difference = match.made_by(x, op("sub"));
  return difference != nullptr && mean_of(match, difference->inputs[1]) == difference->inputs[0];
}

/// The row that `node` divides by the root of its mean square.
std::optional<Normalized> scaled_down(const Matcher& match, const PlanNode& node) {
  if (node.op != op("div") && node.op != op("mul")) return std::nullopt;
  for (const auto& [x, other] : both_orders) {
    const auto root =
        node.op == op("div") ? node.inputs[other] : inverted(match, node.inputs[other]);
    const auto found = root ? root_mean_square(match, *root) : std::nullopt;
    if (found && found->x == node.inputs[x] && !is_centred(match, found->x) &&
        match.descriptor(node.outputs[0]) == match.descriptor(found->x))
      return found;
    if (node.op == op("div")) break;
  }
  return std::nullopt;
}

}  // namespace

void recognise_rms_normalization(PlanGraph& graph) {
  Matcher match(graph);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const auto found = scaled_down(match, graph.nodes[i]);
    if (!found) continue;
    PlanNode node = graph.nodes[i];
    const auto last = static_cast<std::uint32_t>(match.descriptor(found->x).shape.size() - 1);
    node.op = op_rms_normalization;
    node.attributes = LayerNormalizationAttributes{{{last}}, found->epsilon};
    node.inputs = {found->x};
    node.own_inputs = 1;
    if (!rms_normalization(problem_of(graph, node))) continue;
    match.forget(i);
    graph.nodes[i] = node;
    match.learn(i);
    const std::size_t next = only_consumer(graph, match.uses(), node.outputs[0]);
    if (next == Uses::none || graph.nodes[next].op != op("mul")) continue;
    PlanNode scaled = graph.nodes[next];
    const auto scale = scaled.inputs[scaled.inputs[0] == node.outputs[0] ? 1 : 0];
    node.inputs.push_back(scale);
    node.outputs = scaled.outputs;
    node.own_inputs = 2;
    node.label = scaled.label;
    if (!rms_normalization(problem_of(graph, node))) continue;
    match.forget(next);
    match.forget(i);
    graph.nodes[i].removed = true;
    graph.nodes[next] = std::move(node);
    match.learn(next);
  }
  graph.sweep();
}

void recognise_layer_normalization(PlanGraph& graph) {
  Matcher match(graph);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (graph.nodes[i].op != op("div") || !match.is_float32(graph.nodes[i].outputs[0])) continue;
    const auto normalized = normalized_by(match, graph.nodes[i]);
    if (!normalized) continue;
    match.forget(i);
    PlanNode& node = graph.nodes[i];
    const auto last = static_cast<std::uint32_t>(match.descriptor(normalized->x).shape.size() - 1);
    node.op = op("layerNormalization");
    node.attributes = LayerNormalizationAttributes{{{last}}, normalized->epsilon};
    node.inputs = {normalized->x, ops::no_value, ops::no_value};
    node.own_inputs = 3;
    match.learn(i);
    std::size_t at = i;
    const std::array<ops::OpId, 2> followers{op("mul"), op("add")};
    for (std::size_t k = 0; k < 2; ++k) {
      const auto found = scaled_by(graph, match, graph.nodes[at].outputs[0], followers[k]);
      if (!found) continue;
      match.forget(found->first);
      match.forget(at);
      PlanNode merged = graph.nodes[at];
      merged.inputs[k + 1] = found->second;
      merged.outputs = graph.nodes[found->first].outputs;
      graph.nodes[at].removed = true;
      graph.nodes[found->first] = std::move(merged);
      at = found->first;
      match.learn(at);
    }
  }
  graph.sweep();
}

}  // namespace polychron::kernels
