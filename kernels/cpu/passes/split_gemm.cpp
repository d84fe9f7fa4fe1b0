// Splits a gemm that no kernel computes fast in one step. A node of its own adds a third operand
// that is a column or that has a factor. A node of its own transposes a transposed first operand,
// which takes little time beside the product.
#include "kernels/cpu/passes/match.hpp"
#include "kernels/cpu/passes/passes.hpp"

namespace polychron::kernels {
namespace {

using ops::op;
using ops::ValueId;

bool adds_apart(const PlanGraph& graph, const PlanNode& node) {
  if (node.own_inputs < 3 || node.inputs[2] == ops::no_value) return false;
  if (std::get<GemmAttributes>(node.attributes).beta != 1) return true;
  const Shape& added = graph.values[node.inputs[2]].descriptor.shape;
  const Shape& result = graph.values[node.outputs[0]].descriptor.shape;
  return added.size() == 2 && added[0] != 1 && added[1] == 1 && result[1] != 1;
}

class Splitter {
 public:
  explicit Splitter(PlanGraph& graph) : graph_(graph) {}

  void run() {
    std::vector<PlanNode> nodes = std::move(graph_.nodes);
    graph_.nodes.clear();
    for (PlanNode& node : nodes) {
      const bool gemm = node.op == op("gemm") &&
                        graph_.values[node.outputs[0]].descriptor.data_type == DataType::float32;
      if (gemm && std::get<GemmAttributes>(node.attributes).a_transpose) transpose_first(node);
      if (gemm && adds_apart(graph_, node))
        add_apart(std::move(node));
      else
        graph_.nodes.push_back(std::move(node));
    }
  }

 private:
  ValueId add_value(const Shape& shape) {
    PlanValue value;
    value.descriptor = {DataType::float32, shape};
    return graph_.add_value(std::move(value));
  }
  const Shape& shape(ValueId value) const { return graph_.values[value].descriptor.shape; }

  void transpose_first(PlanNode& node) {
    const ValueId from = node.inputs[0];
    const ValueId to = add_value({shape(from)[1], shape(from)[0]});
    graph_.nodes.push_back(
        unary_node(op("transpose"), TransposeAttributes{{{1, 0}}}, from, to, node.label));
    node.inputs[0] = to;
    std::get<GemmAttributes>(node.attributes).a_transpose = false;
  }

  void add_apart(PlanNode node) {
    auto& gemm = std::get<GemmAttributes>(node.attributes);
    ValueId added = node.inputs[2];
    if (gemm.beta != 1) {
      const ValueId scaled = add_value(shape(added));
      graph_.nodes.push_back(unary_node(op("linear"), LinearAttributes{gemm.beta, nothing}, added,
                                        scaled, node.label));
      added = scaled;
    }
    gemm.beta = 1;
    const ValueId result = node.outputs[0], product = add_value(shape(result));
    PlanNode sum;
    sum.op = op("add");
    sum.label = node.label;
    sum.inputs = {product, added};
    sum.own_inputs = 2;
    sum.outputs = {result};
    node.inputs[2] = ops::no_value;
    node.outputs = {product};
    graph_.nodes.push_back(std::move(node));
    graph_.nodes.push_back(std::move(sum));
  }

  PlanGraph& graph_;
};

}  // namespace

void split_gemm(PlanGraph& graph) { Splitter(graph).run(); }

}  // namespace polychron::kernels
