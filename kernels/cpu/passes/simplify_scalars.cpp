// Arithmetic with a scalar constant becomes linear(alpha, beta), so that other passes see one form.
#include <cmath>
#include <numeric>

#include "kernels/cpu/passes/match.hpp"
#include "kernels/cpu/passes/passes.hpp"

namespace polychron::kernels {
namespace {

using ops::op;

/// What is added where nothing is: 0 would take the sign of a product that is -0.
constexpr double nothing = -0.0;

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
  if (node.op == op("div") && right && *right != 0) return Affine{0, {1.0 / *right, nothing}};
  return std::nullopt;
}

/// WebNN's attributes are finite: a mask of infinities stays an addition.
bool finite(const LinearAttributes& a) { return std::isfinite(a.alpha) && std::isfinite(a.beta); }

void to_linear(PlanGraph& graph, const Matcher& match, PlanNode& node) {
  if (!match.is_float32(node.outputs[0])) return;
  const auto affine = affine_of(match, node);
  if (!affine || !finite(affine->linear)) return;
  // The scalar may have more dimensions than the operand: then the operator also reshapes.
  const ops::ValueId operand = node.inputs[affine->operand];
  if (graph.values[operand].descriptor != graph.values[node.outputs[0]].descriptor) return;
  node.op = op("linear");
  node.attributes = affine->linear;
  node.inputs = {operand};
  node.own_inputs = 1;
}

/// linear after linear is one.
bool join(PlanGraph& graph, Matcher& match, std::size_t index) {
  PlanNode& node = graph.nodes[index];
  PlanNode* before = match.only_made_by(node.inputs[0], op("linear"));
  if (before == nullptr) return false;
  const auto& first = std::get<LinearAttributes>(before->attributes);
  auto& second = std::get<LinearAttributes>(node.attributes);
  const bool adds = first.beta != 0 || !std::signbit(first.beta);
  const LinearAttributes both{second.alpha * first.alpha,
                              adds ? second.alpha * first.beta + second.beta : second.beta};
  if (!finite(both)) return false;
  second = both;
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
  return static_cast<float>(a.alpha) == 1 && a.beta == 0;
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
  // What each value is another name of; who reads a value comes after who makes it.
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
