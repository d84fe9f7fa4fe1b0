// Operators that only rename bytes become views, which cost nothing: no step runs for them.
#include "ops/table.hpp"
#include "runtime/passes/passes.hpp"

namespace polychron::runtime {
namespace {

/// A transpose moves nothing if the dimensions larger than 1 keep their order.
bool keeps_order(const Shape& shape, const TransposeAttributes& attributes) {
  std::int64_t last = -1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::size_t axis =
        attributes.permutation ? (*attributes.permutation)[i] : shape.size() - 1 - i;
    if (shape[axis] == 1) continue;
    if (static_cast<std::int64_t>(axis) < last) return false;
    last = static_cast<std::int64_t>(axis);
  }
  return true;
}

bool moves_nothing(const PlanGraph& graph, const PlanNode& node) {
  using ops::op;
  if (graph.values[node.inputs[0]].layout != kernels::Layout::plain ||
      graph.values[node.outputs[0]].layout != kernels::Layout::plain)
    return false;
  if (node.op == op("reshape") || node.op == op("identity")) return true;
  const OperandDescriptor& in = graph.values[node.inputs[0]].descriptor;
  const OperandDescriptor& out = graph.values[node.outputs[0]].descriptor;
  if (node.op == op("transpose"))
    return keeps_order(in.shape, std::get<TransposeAttributes>(node.attributes));
  if (node.op == op("cast")) return in.data_type == out.data_type;
  if (node.op == op("expand") || node.op == op("slice") || node.op == op("concat"))
    return node.inputs.size() == 1 && element_count(in.shape) == element_count(out.shape);
  return false;
}

}  // namespace

void make_views(PlanGraph& graph) {
  for (PlanNode& node : graph.nodes)
    if (node.post_ops.empty() && node.outputs.size() == 1 && !node.inputs.empty() &&
        moves_nothing(graph, node)) {
      node.op = kernels::op_view;
      node.attributes = {};
    }
}

}  // namespace polychron::runtime
