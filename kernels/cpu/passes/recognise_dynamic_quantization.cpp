// Joins ONNX's DynamicQuantizeLinear into one step. Importers write it as the extremes of all
// elements, steps with single numbers that make a scale and a zero point, and a quantizeLinear.
#include "kernels/cpu/passes/match.hpp"
#include "kernels/cpu/passes/passes.hpp"

namespace polychron::kernels {
namespace {

using ops::no_value;
using ops::op;
using ops::ValueId;

class DynamicQuantizations {
 public:
  explicit DynamicQuantizations(PlanGraph& graph) : graph_(graph), match_(graph) {}

  void run() {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
      if (!graph_.nodes[i].removed && graph_.nodes[i].op == op("quantizeLinear")) join(i);
    graph_.sweep();
  }

 private:
  ValueId operand(ValueId value, ops::OpId id, std::size_t i = 0) const {
    const PlanNode* const node = match_.made_by(value, id);
    return node == nullptr ? no_value : node->inputs[i];
  }
  bool is_number(ValueId value, float number) const {
    return value != no_value && match_.scalar(value) == number;
  }
  /// The other operand of `id`, if its second one is `number`.
  ValueId beside(float number, ValueId value, ops::OpId id) const {
    return is_number(operand(value, id, 1), number) ? operand(value, id) : no_value;
  }
  /// True if `value` is where(range == 0, `none`, ..).
  bool is_choice(ValueId value, ValueId range, float none) const {
    return beside(0, operand(value, op("where")), op("equal")) == range &&
           is_number(operand(value, op("where"), 1), none);
  }
  /// True if `scale` and `zero` are those of DynamicQuantizeLinear.
  bool are_dynamic(ValueId x, ValueId scale, ValueId zero) const {
    const ValueId quotient = operand(scale, op("where"), 2);
    const ValueId range = operand(quotient, op("div")), steps = operand(quotient, op("div"), 1);
    const ValueId high = operand(range, op("sub")), low = operand(range, op("sub"), 1);
    const ValueId shift = operand(
        beside(0, beside(255, operand(zero, op("cast")), op("min")), op("max")), op("roundEven"));
    return range != no_value && is_choice(scale, range, 1) && is_choice(steps, range, 255) &&
           is_number(operand(steps, op("where"), 2), 255) &&
           operand(beside(0, high, op("max")), op("reduceMax")) == x &&
           operand(beside(0, low, op("min")), op("reduceMin")) == x &&
           operand(operand(shift, op("div")), op("neg")) == low &&
           operand(shift, op("div"), 1) == scale;
  }

  void join(std::size_t index) {
    const PlanNode& last = graph_.nodes[index];
    const ValueId x = last.inputs[0], scale = match_.source_of(last.inputs[1]),
                  zero = match_.source_of(last.inputs[2]);
    if (!match_.is_float32(x) || graph_.is_constant(x) || !are_dynamic(x, scale, zero) ||
        match_.descriptor(zero).data_type != DataType::uint8 ||
        *element_count(match_.descriptor(scale).shape) != 1)
      return;
    PlanNode node;
    node.op = op_dynamic_quantization;
    node.inputs = {x};
    node.own_inputs = 1;
    node.outputs = {last.outputs[0], scale, zero};
    node.label = last.label;
    // All readers of the results come after the node of the scale.
    const std::size_t place = match_.uses().producer[scale];
    for (const std::size_t gone : {place, match_.uses().producer[zero], index}) {
      match_.forget(gone);
      graph_.nodes[gone].removed = true;
    }
    graph_.nodes[place] = std::move(node);
    match_.learn(place);
  }

  PlanGraph& graph_;
  Matcher match_;
};

}  // namespace

void recognise_dynamic_quantization(PlanGraph& graph) { DynamicQuantizations(graph).run(); }

}  // namespace polychron::kernels
