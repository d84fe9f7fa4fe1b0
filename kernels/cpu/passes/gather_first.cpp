// Gathers quantized values, and their scales, before they are dequantized: a model reads a few rows
// of a large table. Each element is computed as before, so results keep their bits. A table may be
// dequantized by one operator, or in pieces: a cast, a difference, a product.
#include <algorithm>
#include <map>
#include <set>

#include "kernels/cpu/passes/match.hpp"
#include "kernels/cpu/passes/passes.hpp"

namespace polychron::kernels {
namespace {

using ops::op;
using ops::ValueId;

std::uint32_t axis_of(const PlanNode& gather) {
  return std::get<GatherAttributes>(gather.attributes).axis;
}

class Gatherer {
 public:
  explicit Gatherer(PlanGraph& graph) : graph_(graph), uses_(graph) {}

  /// False if there was nothing to do. The pieces of a table take their turns, the last first.
  bool run() {
    std::map<ValueId, PlanNode> tables;  // by the dequantized value
    std::vector<PlanNode> nodes = std::move(graph_.nodes);
    for (PlanNode& node : nodes) {
      if (!dequantizes(node)) continue;
      weights_.insert(node.outputs[0]);
      if (!is_table(nodes, node)) continue;
      tables.emplace(node.outputs[0], node);
      node.removed = true;
    }
    graph_.nodes.clear();
    for (PlanNode& node : nodes) {
      const auto table = node.op == op("gather") ? tables.find(node.inputs[0]) : tables.end();
      if (table != tables.end())
        gather_from(table->second, node);
      else
        graph_.nodes.push_back(std::move(node));
    }
    graph_.sweep();
    return !tables.empty();
  }

 private:
  /// True for dequantizeLinear, and for its pieces where they read constants and inputs.
  bool dequantizes(const PlanNode& node) const {
    if (node.op == op("dequantizeLinear")) return true;
    if (node.op != op("cast") && node.op != op("sub") && node.op != op("mul")) return false;
    return std::ranges::all_of(node.inputs, [&](ValueId input) {
      return (uses_.producer[input] == Uses::none || weights_.contains(input)) &&
             shape(input).size() == shape(node.outputs[0]).size();
    });
  }

  const Shape& shape(ValueId value) const { return graph_.values[value].descriptor.shape; }
  std::size_t elements(ValueId value) const { return *element_count(shape(value)); }

  /// True if nothing but gathers reads what the node dequantizes, and they take fewer elements than
  /// it has.
  bool is_table(const std::vector<PlanNode>& nodes, const PlanNode& node) const {
    const ValueId value = node.outputs[0];
    const auto packed = [&](ValueId input) {
      return is_packed(graph_.values[input].descriptor.data_type);
    };
    if (graph_.is_output(value) || uses_.consumers[value].empty() ||
        std::ranges::any_of(node.inputs, packed))
      return false;
    std::size_t taken = 0;
    for (const std::size_t reader : uses_.consumers[value]) {
      const PlanNode& gather = nodes[reader];
      if (gather.op != op("gather") || gather.inputs[0] != value) return false;
      // A block of several elements along the axis: its scale has another index.
      const std::uint32_t axis = axis_of(gather), all = shape(value)[axis];
      for (const ValueId input : node.inputs)
        if (shape(input)[axis] != 1 && shape(input)[axis] != all) return false;
      taken += elements(gather.outputs[0]);
    }
    return taken < elements(value);
  }

  ValueId add_value(DataType type, const Shape& shape) {
    PlanValue value;
    value.descriptor = {type, shape};
    return graph_.add_value(std::move(value));
  }

  void gather_from(const PlanNode& table, const PlanNode& gather) {
    PlanNode dequantize = table;
    for (ValueId& input : dequantize.inputs)
      input = gathered(input, shape(table.outputs[0]), gather);
    dequantize.outputs = gather.outputs;
    graph_.nodes.push_back(std::move(dequantize));
  }

  /// The elements of `from` for what `gather` takes of a table. Where all of the axis has one
  /// scale, it stays.
  ValueId gathered(ValueId from, const Shape& table, const PlanNode& gather) {
    const std::uint32_t axis = axis_of(gather);
    const bool one = shape(from)[axis] == 1 && table[axis] != 1;
    const Shape& indices = shape(gather.inputs[1]);
    Shape taken = shape(from);
    const auto at = taken.erase(taken.begin() + axis);
    if (one)
      taken.insert(at, indices.size(), 1);
    else
      taken.insert(at, indices.begin(), indices.end());
    const ValueId to = add_value(graph_.values[from].descriptor.data_type, taken);
    PlanNode node = gather;
    node.inputs[0] = from;
    node.outputs = {to};
    graph_.nodes.push_back(
        one ? unary_node(op("reshape"), ReshapeAttributes{taken}, from, to, gather.label) : node);
    return to;
  }

  PlanGraph& graph_;
  const Uses uses_;
  std::set<ValueId> weights_;  ///< made of constants and inputs alone
};

}  // namespace

void gather_first(PlanGraph& graph) {
  while (Gatherer(graph).run()) {
  }
}

}  // namespace polychron::kernels
