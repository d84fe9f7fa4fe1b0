// Splits a gemm that no kernel computes fast in one step. A node of its own adds a third operand
// that is a column, or if there are factors. A node of its own scales the product, so that
// fold_affine may scale a constant matrix instead. A node of its own transposes a transposed first
// operand, which takes little time beside the product.
#include <cmath>
#include <utility>

#include "kernels/cpu/passes/match.hpp"
#include "kernels/cpu/passes/passes.hpp"

namespace polychron::kernels {
namespace {

using ops::op;
using ops::ValueId;

/// True if a node of its own scales the product. Implementations of linear skip a factor of 0, and
/// no attribute holds an infinite one.
bool scales_apart(const GemmAttributes& gemm) {
  return gemm.alpha != 1 && gemm.alpha != 0 && std::isfinite(static_cast<float>(gemm.alpha));
}

bool adds_apart(const PlanGraph& graph, const PlanNode& node) {
  if (node.own_inputs < 3 || node.inputs[2] == ops::no_value) return false;
  const auto& gemm = std::get<GemmAttributes>(node.attributes);
  if (gemm.beta != 1 || scales_apart(gemm)) return true;
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
      if (gemm)
        add_parts(std::move(node));
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

  /// `factor` times `from`, in a node of its own.
  void scale(double factor, ValueId from, ValueId to, const std::string& label) {
    graph_.nodes.push_back(
        unary_node(op("linear"), LinearAttributes{factor, nothing}, from, to, label));
  }

  void add_parts(PlanNode node) {
    auto& gemm = std::get<GemmAttributes>(node.attributes);
    const std::string label = node.label;
    const ValueId result = node.outputs[0];
    ValueId added = ops::no_value, last = result;  // of what comes before the addition
    if (adds_apart(graph_, node)) {
      added = std::exchange(node.inputs[2], ops::no_value);
      last = add_value(shape(result));
      if (gemm.beta != 1) {
        const ValueId scaled = add_value(shape(added));
        scale(gemm.beta, added, scaled, label);
        added = scaled;
      }
      gemm.beta = 1;
    }
    node.outputs = {last};
    if (scales_apart(gemm)) {
      const double alpha = std::exchange(gemm.alpha, 1);
      node.outputs = {add_value(shape(result))};
      graph_.nodes.push_back(std::move(node));
      scale(alpha, graph_.nodes.back().outputs[0], last, label);
    } else {
      graph_.nodes.push_back(std::move(node));
    }
    if (added == ops::no_value) return;
    PlanNode sum;
    sum.op = op("add");
    sum.label = label;
    sum.inputs = {last, added};
    sum.own_inputs = 2;
    sum.outputs = {result};
    graph_.nodes.push_back(std::move(sum));
  }

  PlanGraph& graph_;
};

}  // namespace

void split_gemm(PlanGraph& graph) { Splitter(graph).run(); }

}  // namespace polychron::kernels
