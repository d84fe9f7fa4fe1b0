// Turns arithmetic with a scalar constant into linear(alpha, beta), so that other passes see one
// form.
#include <cmath>
#include <numeric>

#include "kernels/cpu/passes/match.hpp"
#include "kernels/cpu/passes/passes.hpp"

namespace polychron::kernels {
namespace {

using ops::op;

/// alpha * operand + beta, for the operand that is not a constant.
struct Affine {
  std::size_t operand;
  LinearAttributes linear;
};

std::optional<Affine> affine_of(const Matcher& match, const PlanNode& node) {
  if (node.op == op("neg")) return Affine{0, {-1, nothing}};
  if (node.inputs.size() != 2) return std::nullopt;
  const auto right = match.scalar(node.inputs[1]);
  const auto left = match.scalar(node.inputs[0]);
  if (node.op == op("add")) {
    if (right) return Affine{0, {1, *right}};
    if (left) return Affine{1, {1, *left}};
  }
  if (node.op == op("mul")) {
    if (right) return Affine{0, {*right, nothing}};
    if (left) return Affine{1, {*left, nothing}};
  }
  if (node.op == op("sub")) {
    if (right) return Affine{0, {1, -static_cast<double>(*right)}};
    if (left) return Affine{1, {-1, *left}};
  }
  // The reciprocal of a subnormal number, or of one near the largest, is not a normal float32.
  if (node.op == op("div") && right && is_normal(*right) && is_normal(1.0 / *right))
    return Affine{0, {1.0 / *right, nothing}};
  return std::nullopt;
}

/// Infinite masks stay additions. So do products with 0 (infinity * 0 is NaN) and sums with 0 (-0 +
/// 0 is 0), because implementations of linear skip these.
bool suits_linear(const LinearAttributes& a) {
  const bool adds_zero = a.beta == 0 && !is_product(a);
  return a.alpha != 0 && !adds_zero && std::isfinite(a.alpha) && std::isfinite(a.beta);
}

void to_linear(PlanGraph& graph, const Matcher& match, PlanNode& node) {
  if (!match.is_float32(node.outputs[0])) return;
  const auto affine = affine_of(match, node);
  if (!affine || !suits_linear(affine->linear)) return;
  // A scalar of higher rank than the operand also reshapes it.
  const ops::ValueId operand = node.inputs[affine->operand];
  if (graph.values[operand].descriptor != graph.values[node.outputs[0]].descriptor) return;
  node.op = op("linear");
  node.attributes = affine->linear;
  node.inputs = {operand};
  node.own_inputs = 1;
}

/// True if multiplying with the factor is exact, except at the ends of float32's range.
bool is_power_of_two(double factor) {
  int exponent = 0;
  return std::fabs(std::frexp(factor, &exponent)) == 0.5;
}

/// Joins two linear operators, if the first only multiplies. If the second adds, the first must be
/// exact, because it rounds its product before the addition. If the first makes numbers larger, it
/// must be exact as well, because it rounds subnormal numbers coarsely.
bool join(PlanGraph& graph, Matcher& match, std::size_t index) {
  PlanNode& node = graph.nodes[index];
  PlanNode* before = match.only_made_by(node.inputs[0], op("linear"));
  if (before == nullptr) return false;
  const auto& first = std::get<LinearAttributes>(before->attributes);
  auto& second = std::get<LinearAttributes>(node.attributes);
  const bool rounds_alike = is_product(second) && std::fabs(first.alpha) < 1;
  if (!is_product(first) || !(rounds_alike || is_power_of_two(first.alpha))) return false;
  const double both = second.alpha * first.alpha;
  if (!keeps_range(first.alpha, second.alpha) || !is_normal(both)) return false;
  second.alpha = both;
  const std::size_t first_at = match.uses().producer[node.inputs[0]];
  match.forget(index);
  match.forget(first_at);
  node.inputs[0] = before->inputs[0];
  before->removed = true;
  match.learn(index);
  return true;
}

bool changes_nothing(const PlanNode& node) {
  const auto& a = std::get<LinearAttributes>(node.attributes);
  return static_cast<float>(a.alpha) == 1 && is_product(a);
}

}  // namespace

void simplify_scalars(PlanGraph& graph) {
  Matcher match(graph);
  for (PlanNode& node : graph.nodes)
    if (node.post_ops.empty()) to_linear(graph, match, node);
  match.refresh();
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    PlanNode& node = graph.nodes[i];
    if (node.op != op("linear") || !node.post_ops.empty()) continue;
    while (join(graph, match, i)) {
    }
    if (!changes_nothing(node)) continue;
    node.op = op("identity");
    node.attributes = {};
  }
  // The value that each value is another name of. Nodes stand behind those that make their inputs.
  std::vector<ops::ValueId> same(graph.values.size());
  std::iota(same.begin(), same.end(), ops::ValueId{0});
  for (PlanNode& node : graph.nodes) {
    for (auto& value : node.inputs)
      if (value != ops::no_value) value = same[value];
    if (node.removed || node.op != op("identity") || graph.is_output(node.outputs[0])) continue;
    node.removed = true;
    same[node.outputs[0]] = node.inputs[0];
  }
  graph.sweep();
}

}  // namespace polychron::kernels
