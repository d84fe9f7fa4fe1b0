// Turns operators that move no bytes into views, for which no step runs.
#include <iterator>
#include <optional>

#include "kernels/cpu/passes/passes.hpp"
#include "ops/table.hpp"

namespace polychron::kernels {
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
  if (graph.values[node.inputs[0]].layout != Layout::plain ||
      graph.values[node.outputs[0]].layout != Layout::plain)
    return false;
  if (node.op == op("reshape") || node.op == op("identity")) return true;
  const OperandDescriptor& in = graph.values[node.inputs[0]].descriptor;
  const OperandDescriptor& out = graph.values[node.outputs[0]].descriptor;
  if (node.op == op("transpose"))
    return keeps_order(in.shape, std::get<TransposeAttributes>(node.attributes));
  if (node.op == op("cast")) return in.data_type == out.data_type;
  if (node.op == op("expand") || node.op == op("concat"))
    return node.inputs.size() == 1 && element_count(in.shape) == element_count(out.shape);
  return false;
}

/// The byte offset of a part of `whole`: `shape` elements from `starts`. nullopt if its bytes are
/// not contiguous.
std::optional<std::size_t> offset_of_part(const OperandDescriptor& whole, const Shape& shape,
                                          const std::vector<std::uint32_t>& starts) {
  std::size_t step = byte_size(whole.data_type), offset = 0;
  bool cut = false;  // an inner dimension is not whole
  for (std::size_t i = shape.size(); i-- > 0; step *= whole.shape[i]) {
    if (cut && shape[i] != 1) return std::nullopt;
    cut = cut || shape[i] != whole.shape[i];
    offset += starts[i] * step;
  }
  return offset;
}

std::optional<std::size_t> slice_offset(const PlanGraph& graph, const PlanNode& node) {
  const auto& a = std::get<SliceAttributes>(node.attributes);
  if (a.strides)
    for (const std::uint32_t stride : *a.strides)
      if (stride != 1) return std::nullopt;
  const Shape& shape = graph.values[node.outputs[0]].descriptor.shape;
  return offset_of_part(graph.values[node.inputs[0]].descriptor, shape, a.starts);
}

PlanNode view(ops::ValueId input, ops::ValueId output, std::string label, std::size_t offset) {
  PlanNode node = unary_node(op_view, {}, input, output, std::move(label));
  node.view_offset = offset;
  return node;
}

/// The views that replace a split; empty if its parts are not contiguous.
std::vector<PlanNode> split_views(const PlanGraph& graph, const PlanNode& node) {
  const std::uint32_t axis = std::get<SplitAttributes>(node.attributes).axis;
  const OperandDescriptor& whole = graph.values[node.inputs[0]].descriptor;
  std::vector<std::uint32_t> starts(whole.shape.size());
  std::vector<PlanNode> views;
  for (const ops::ValueId part : node.outputs) {
    const Shape& shape = graph.values[part].descriptor.shape;
    const auto offset = offset_of_part(whole, shape, starts);
    if (!offset) return {};
    views.push_back(view(node.inputs[0], part, node.label, *offset));
    starts[axis] += shape[axis];
  }
  return views;
}

}  // namespace

void make_views(PlanGraph& graph) {
  using ops::op;
  std::vector<PlanNode> nodes;
  for (PlanNode& node : graph.nodes) {
    if (node.op == op("split")) {
      auto views = split_views(graph, node);
      if (!views.empty()) {
        std::move(views.begin(), views.end(), std::back_inserter(nodes));
        continue;
      }
    }
    const bool candidate =
        node.post_ops.empty() && node.outputs.size() == 1 && !node.inputs.empty();
    if (candidate && node.op == op("slice")) {
      if (const auto offset = slice_offset(graph, node))
        node = view(node.inputs[0], node.outputs[0], node.label, *offset);
    } else if (candidate && moves_nothing(graph, node)) {
      node = view(node.inputs[0], node.outputs[0], node.label, 0);
    }
    nodes.push_back(std::move(node));
  }
  graph.nodes = std::move(nodes);
}

}  // namespace polychron::kernels
