// Removes the transposes around an attention's products. oneDNN reads and writes strided operands
// as fast as packed ones, if one of the last two dimensions is contiguous.
#include "kernels/cpu/passes/match.hpp"
#include "kernels/cpu/passes/passes.hpp"

namespace polychron::kernels {
namespace {

using ops::op;
using Order = std::vector<std::uint32_t>;

Order order_of(const PlanGraph& graph, const PlanNode& transpose) {
  const auto& permutation = std::get<TransposeAttributes>(transpose.attributes).permutation;
  if (permutation) return *permutation;
  const auto rank =
      static_cast<std::uint32_t>(graph.values[transpose.inputs[0]].descriptor.shape.size());
  Order order;
  for (std::uint32_t i = rank; i-- > 0;) order.push_back(i);
  return order;
}

/// True for a batched product that the library can compute with strides.
bool is_batched(const PlanGraph& graph, const Matcher& match, const PlanNode& node) {
  if (node.op != op("matmul") || !match.is_float32(node.outputs[0])) return false;
  const auto rank = [&](ops::ValueId value) { return graph.values[value].descriptor.shape.size(); };
  const std::size_t own = rank(node.outputs[0]);
  return (own == 3 || own == 4) && rank(node.inputs[0]) == own && rank(node.inputs[1]) == own;
}

void absorb_inputs(PlanGraph& graph, const Matcher& match, PlanNode& node) {
  for (std::size_t i = 0; i < 2; ++i) {
    const PlanNode* transpose = match.made_by(node.inputs[i], op("transpose"));
    if (transpose == nullptr) continue;
    Order order = order_of(graph, *transpose);
    const auto last = static_cast<std::uint32_t>(order.size() - 1);
    const bool rows_together = order[last] == last;
    const bool columns_together = i == 1 && order[last - 1] == last;
    if (!rows_together && !columns_together) continue;
    node.input_orders.resize(2);
    node.input_orders[i] = std::move(order);
    node.inputs[i] = transpose->inputs[0];
  }
}

/// Absorbs the transpose that reads the result, if it is the only reader.
void absorb_output(PlanGraph& graph, Matcher& match, PlanNode& node) {
  const std::size_t next = only_consumer(graph, match.uses(), node.outputs[0]);
  if (next == Uses::none || graph.nodes[next].op != op("transpose")) return;
  for (const PostOp& post_op : node.post_ops)
    if (!post_op.operands.empty()) return;
  const Order permutation = order_of(graph, graph.nodes[next]);
  Order order(permutation.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[permutation[i]] = i;
  if (order.back() + 1 != order.size()) return;
  match.forget(next);
  node.output_order = std::move(order);
  node.outputs = graph.nodes[next].outputs;
  graph.nodes[next].removed = true;
}

}  // namespace

void absorb_transposes(PlanGraph& graph) {
  Matcher match(graph);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    PlanNode& node = graph.nodes[i];
    if (node.removed || !is_batched(graph, match, node)) continue;
    PlanNode changed = node;
    absorb_inputs(graph, match, changed);
    absorb_output(graph, match, changed);
    match.forget(i);
    node = std::move(changed);
    match.learn(i);
  }
  graph.sweep();
}

}  // namespace polychron::kernels
