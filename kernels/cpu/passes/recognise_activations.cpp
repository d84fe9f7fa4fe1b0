// Finds activations that exporters wrote as several operators. Runs after simplify_scalars, and
// relies on its form of scalar arithmetic.
#include <cmath>
#include <numbers>

#include "kernels/cpu/passes/match.hpp"
#include "kernels/cpu/passes/passes.hpp"

namespace polychron::kernels {
namespace {

using ops::op;
using ops::ValueId;

double number(const std::optional<Number>& value) {
  if (!value) return std::nan("");
  return std::visit([](auto x) { return static_cast<double>(x); }, *value);
}

/// `value` as alpha * x + beta.
struct Line {
  ValueId x;
  double alpha, beta;
};

/// Follows the linear operators that make `value`, while one product overflows where theirs do. At
/// most one of them may add: two summands might cancel out.
std::optional<Line> line_of(const Matcher& match, ValueId value) {
  Line line{value, 1, nothing};
  int sums = 0;
  while (const PlanNode* linear = match.only_made_by(line.x, op("linear"))) {
    const auto& a = std::get<LinearAttributes>(linear->attributes);
    if (!keeps_range(a.alpha, line.alpha) || (!is_product(a) && ++sums > 1)) break;
    if (!is_product(a)) line.beta = line.alpha * a.beta;
    line.alpha *= a.alpha;
    line.x = linear->inputs[0];
  }
  return line.x == value ? std::nullopt : std::optional(line);
}

/// True if multiplying with `factor` does not bring a number near the ends of float32's range.
bool is_moderate(double factor) { return std::fabs(factor) >= 1.0 / 16 && std::fabs(factor) <= 16; }

/// clamp(alpha * x + beta, 0, h): the input x, and the same function as h * hardSigmoid(x).
struct Clipped {
  ValueId x;
  HardSigmoidAttributes sigmoid;
  double height;
};

std::optional<Clipped> clipped(const Matcher& match, ValueId value) {
  const PlanNode* clamp = match.only_made_by(value, op("clamp"));
  if (clamp == nullptr) return std::nullopt;
  const auto& bounds = std::get<ClampAttributes>(clamp->attributes);
  const double height = number(bounds.max_value);
  if (number(bounds.min_value) != 0 || !(height > 0)) return std::nullopt;
  const auto line = line_of(match, clamp->inputs[0]);
  if (!line) return std::nullopt;
  // A beta larger than the result would be rounded differently.
  if (!is_normal(line->alpha / height) || std::fabs(line->beta) > height) return std::nullopt;
  if (line->beta != 0 && !is_normal(line->beta / height)) return std::nullopt;
  return Clipped{line->x, {line->alpha / height, line->beta / height}, height};
}

bool is_hard_swish(const HardSigmoidAttributes& a) {
  return nearly(a.alpha, 1.0 / 6) && nearly(a.beta, 0.5);
}

/// A factor that turns x into an activation of x: the operator, and a remaining factor.
struct Gate {
  ValueId x;
  ops::OpId op;
  Attributes attributes;
  double factor;
};

/// Matches erf(x / sqrt(2)) + 1, times a factor.
std::optional<Gate> gelu_gate(const Matcher& match, ValueId value) {
  const auto outer = line_of(match, value);
  if (!outer || !nearly(outer->alpha, outer->beta)) return std::nullopt;
  const PlanNode* erf = match.only_made_by(outer->x, op("erf"));
  const auto inner = erf != nullptr ? line_of(match, erf->inputs[0]) : std::nullopt;
  if (!inner || !nearly(inner->alpha, 1 / std::numbers::sqrt2) || inner->beta != 0)
    return std::nullopt;
  return Gate{inner->x, op("gelu"), {}, 2 * outer->alpha};
}

std::optional<Gate> gate_of(const Matcher& match, ValueId value) {
  if (const auto clip = clipped(match, value); clip && is_hard_swish(clip->sigmoid))
    return Gate{clip->x, op("hardSwish"), {}, clip->height};
  if (const PlanNode* hard = match.only_made_by(value, op("hardSigmoid"));
      hard != nullptr && is_hard_swish(std::get<HardSigmoidAttributes>(hard->attributes)))
    return Gate{hard->inputs[0], op("hardSwish"), {}, 1};
  if (const PlanNode* sigmoid = match.only_made_by(value, op("sigmoid"))) {
    const PlanNode* linear = match.only_made_by(sigmoid->inputs[0], op("linear"));
    if (linear == nullptr) return Gate{sigmoid->inputs[0], op_swish, LinearAttributes{1, 0}, 1};
    const auto& a = std::get<LinearAttributes>(linear->attributes);
    if (a.beta == 0) return Gate{linear->inputs[0], op_swish, LinearAttributes{a.alpha, 0}, 1};
    return std::nullopt;
  }
  return gelu_gate(match, value);
}

/// Takes the factor behind the node out of the graph, and returns it; 1 if there is none.
double take_factor_behind(PlanGraph& graph, Matcher& match, PlanNode& node) {
  const std::size_t next = only_consumer(graph, match.uses(), node.outputs[0]);
  if (next == Uses::none || graph.nodes[next].op != op("linear")) return 1;
  const auto a = std::get<LinearAttributes>(graph.nodes[next].attributes);
  if (!is_product(a) || !is_moderate(a.alpha)) return 1;
  match.forget(next);
  node.outputs = graph.nodes[next].outputs;
  graph.nodes[next] = {};
  graph.nodes[next].removed = true;
  return a.alpha;
}

/// Matches x * gate(x), in which x may have a factor of its own, and another one may follow.
void rewrite_gated(PlanGraph& graph, Matcher& match, std::size_t index) {
  PlanNode node = graph.nodes[index];
  for (const auto& [x_at, gate_at] : both_orders) {
    auto gate = gate_of(match, node.inputs[gate_at]);
    if (!gate) continue;
    const ValueId x = node.inputs[x_at];
    if (x != gate->x) {
      const PlanNode* linear = match.only_made_by(x, op("linear"));
      if (linear == nullptr || linear->inputs[0] != gate->x) continue;
      const auto& a = std::get<LinearAttributes>(linear->attributes);
      if (!is_product(a) || !is_moderate(a.alpha)) continue;
      gate->factor *= a.alpha;
    }
    if (!is_moderate(gate->factor)) continue;
    match.forget(index);
    gate->factor *= take_factor_behind(graph, match, node);
    if (nearly(gate->factor, 1)) {
      graph.nodes[index] =
          unary_node(gate->op, gate->attributes, gate->x, node.outputs[0], node.label);
      match.learn(index);
    } else {
      const ValueId activated = graph.add_value(graph.values[node.outputs[0]]);
      graph.nodes[index] = unary_node(gate->op, gate->attributes, gate->x, activated, node.label);
      graph.nodes.insert(graph.nodes.begin() + static_cast<std::ptrdiff_t>(index) + 1,
                         unary_node(op("linear"), LinearAttributes{gate->factor, nothing},
                                    activated, node.outputs[0], node.label));
      match.refresh();  // later nodes have moved
    }
    return;
  }
}

/// Matches clamp(alpha * x + beta, 0, h) / h.
void rewrite_hard_sigmoid(PlanGraph& graph, Matcher& match, std::size_t index) {
  PlanNode& node = graph.nodes[index];
  const auto& a = std::get<LinearAttributes>(node.attributes);
  const auto clip = clipped(match, node.inputs[0]);
  if (!clip || a.beta != 0 || !nearly(a.alpha * clip->height, 1)) return;
  match.forget(index);
  node = unary_node(op("hardSigmoid"), clip->sigmoid, clip->x, node.outputs[0], node.label);
  match.learn(index);
}

}  // namespace

void recognise_activations(PlanGraph& graph) {
  Matcher match(graph);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const PlanNode& node = graph.nodes[i];
    if (node.outputs.size() != 1 || !match.is_float32(node.outputs[0])) continue;
    if (node.op == op("linear"))
      rewrite_hard_sigmoid(graph, match, i);
    else if (node.op == op("mul"))
      rewrite_gated(graph, match, i);
  }
  graph.sweep();
}

}  // namespace polychron::kernels
