// Element-wise operators go into the node whose result they take. The fused node takes the
// follower's place in the order, where all its operands exist.
#include "kernels/cpu/passes/match.hpp"
#include "kernels/cpu/passes/passes.hpp"
#include "kernels/fusion.hpp"

namespace polychron::kernels {
namespace {

/// Longer chains are rare and oneDNN takes no more than 32.
constexpr std::size_t most_post_ops = 8;

Slot slot_of(const PlanGraph& graph, ops::ValueId id) {
  const PlanValue& value = graph.values[id];
  return {value.descriptor, value.layout, value.constant, true, {}};
}

/// The other operand of `follower`, if it is binary and `value` can be its first.
std::optional<ops::ValueId> other_operand(const PlanNode& follower, ops::ValueId value) {
  if (follower.inputs.size() != 2 || follower.inputs[0] == follower.inputs[1]) return std::nullopt;
  const bool first = follower.inputs[0] == value;
  using ops::op;
  if (!first && (follower.op == op("sub") || follower.op == op("div") || follower.op == op("pow")))
    return std::nullopt;
  return follower.inputs[first ? 1 : 0];
}

bool fuse(PlanGraph& graph, const Matcher& match, std::size_t index) {
  PlanNode& node = graph.nodes[index];
  if (node.outputs.size() != 1 || node.post_ops.size() >= most_post_ops) return false;
  const ops::ValueId result = node.outputs[0];
  const std::size_t next = only_consumer(graph, match.uses(), result);
  if (next == Uses::none) return false;
  PlanNode& follower = graph.nodes[next];
  if (!follower.post_ops.empty() || follower.outputs.size() != 1) return false;
  if (match.descriptor(follower.outputs[0]) != match.descriptor(result)) return false;
  PostOp post_op{follower.op, follower.attributes};
  const Problem problem = problem_of(graph, node, 1);
  if (follower.inputs.size() == 1) {
    if (!can_follow(problem, follower.op, follower.attributes, nullptr)) return false;
  } else {
    const auto other = other_operand(follower, result);
    if (!other) return false;
    const Slot operand = slot_of(graph, *other);
    if (!can_follow(problem, follower.op, follower.attributes, &operand)) return false;
    post_op.operand = static_cast<std::uint32_t>(node.inputs.size());
    node.inputs.push_back(*other);
  }
  node.post_ops.push_back(std::move(post_op));
  node.outputs = follower.outputs;
  follower = std::move(node);
  graph.nodes[index] = {};
  graph.nodes[index].removed = true;
  return true;
}

}  // namespace

void fuse_post_ops(PlanGraph& graph) {
  Matcher match(graph);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    if (!graph.nodes[i].removed && fuse(graph, match, i)) match.refresh();
  graph.sweep();
}

}  // namespace polychron::kernels
