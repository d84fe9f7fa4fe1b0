// Fuses element-wise operators, as post-operations, into the node whose result they take. The fused
// node takes the follower's place in the order, where all its operands exist.
#include <algorithm>

#include "kernels/cpu/passes/match.hpp"
#include "kernels/cpu/passes/passes.hpp"
#include "kernels/fusion.hpp"
#include "kernels/vectors.hpp"

namespace polychron::kernels {
namespace {

/// Longer chains are rare, and oneDNN takes no more than 32.
constexpr std::size_t most_post_ops = 8;

Slot slot_of(const PlanGraph& graph, ops::ValueId id) {
  const PlanValue& value = graph.values[id];
  return {value.descriptor, value.layout, value.constant, true, {}};
}

/// The operands of `follower` except `value`. nullopt unless `value` can be the first operand and
/// occurs once.
std::optional<std::vector<ops::ValueId>> other_operands(const PlanNode& follower,
                                                        ops::ValueId value) {
  std::vector<ops::ValueId> operands = follower.inputs;
  const auto found = std::ranges::find(operands, value);
  if (found == operands.end() || std::ranges::find(operands, ops::no_value) != operands.end())
    return std::nullopt;
  if (found != operands.begin() && !commutes(follower.op)) return std::nullopt;
  operands.erase(found);
  if (std::ranges::find(operands, value) != operands.end()) return std::nullopt;
  return operands;
}

void fuse(PlanGraph& graph, Matcher& match, std::size_t index) {
  PlanNode& node = graph.nodes[index];
  if (node.outputs.size() != 1 || node.post_ops.size() >= most_post_ops) return;
  const ops::ValueId result = node.outputs[0];
  const std::size_t next = only_consumer(graph, match.uses(), result);
  if (next == Uses::none) return;
  PlanNode& follower = graph.nodes[next];
  if (!follower.post_ops.empty() || follower.outputs.size() != 1) return;
  // By itself it is computed by our own loop, which is three times as fast as oneDNN's (2.6.3).
  if (follower.op == ops::op("tanh") && !has_avx512()) return;
  // Only products and convolutions of integers end in integers again.
  const bool ends = (node.op == op_integer_product || node.op == op_integer_convolution) &&
                    follower.op == ops::op("quantizeLinear");
  if (!ends && match.descriptor(follower.outputs[0]) != match.descriptor(result)) return;
  const auto others = other_operands(follower, result);
  if (!others) return;
  std::vector<Slot> operands;
  for (const ops::ValueId other : *others) operands.push_back(slot_of(graph, other));
  if (!can_follow(problem_of(graph, node), follower.op, follower.attributes, operands)) return;
  match.forget(next);
  match.forget(index);
  PostOp post_op{follower.op, follower.attributes};
  for (const ops::ValueId other : *others) {
    post_op.operands.push_back(static_cast<std::uint32_t>(node.inputs.size()));
    node.inputs.push_back(other);
  }
  node.post_ops.push_back(std::move(post_op));
  node.outputs = follower.outputs;
  follower = std::move(node);
  graph.nodes[index] = {};
  graph.nodes[index].removed = true;
  match.learn(next);
}

}  // namespace

void fuse_post_ops(PlanGraph& graph) {
  Matcher match(graph);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    if (!graph.nodes[i].removed) fuse(graph, match, i);
  graph.sweep();
}

}  // namespace polychron::kernels
