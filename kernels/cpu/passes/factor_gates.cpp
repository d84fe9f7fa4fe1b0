// x + x * s with s much smaller than x (squeeze-and-excitation with a shortcut): x * (s + 1). The
// addition then costs next to nothing and fuses into whatever makes s.
#include "kernels/cpu/passes/match.hpp"
#include "kernels/cpu/passes/passes.hpp"

namespace polychron::kernels {

void factor_gates(PlanGraph& graph) {
  using ops::op;
  Matcher match(graph);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (graph.nodes[i].op != op("add") || !match.is_float32(graph.nodes[i].outputs[0])) continue;
    for (const auto& [x_at, product_at] : both_orders) {
      const ops::ValueId x = graph.nodes[i].inputs[x_at];
      const PlanNode* product = match.only_made_by(graph.nodes[i].inputs[product_at], op("mul"));
      if (product == nullptr || (product->inputs[0] != x && product->inputs[1] != x)) continue;
      const ops::ValueId gate = product->inputs[product->inputs[0] == x ? 1 : 0];
      if (*element_count(match.descriptor(gate).shape) * 4 >
          *element_count(match.descriptor(x).shape))
        continue;
      const ops::ValueId shifted = graph.add_value(graph.values[gate]);
      graph.values[shifted].kind = ops::Value::Kind::result;
      graph.values[shifted].constant.reset();
      PlanNode linear =
          unary_node(op("linear"), LinearAttributes{1, 1}, gate, shifted, graph.nodes[i].label);
      graph.nodes[i].op = op("mul");
      graph.nodes[i].inputs = {x, shifted};
      // Right after the gate's producer would do; before the product it is used in is simplest.
      graph.nodes.insert(graph.nodes.begin() + static_cast<std::ptrdiff_t>(i), std::move(linear));
      match.refresh();
      break;
    }
  }
  graph.sweep();
}

}  // namespace polychron::kernels
