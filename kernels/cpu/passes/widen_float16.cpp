// Computes float16 in float32 if no float16 kernel is fast. Results keep that precision until a
// node that reads float16, or the graph's end, takes them.
#include <algorithm>
#include <map>
#include <set>

#include "kernels/cpu/passes/match.hpp"
#include "kernels/cpu/passes/passes.hpp"
#include "kernels/half.hpp"
#include "kernels/kernel.hpp"

namespace polychron::kernels {
namespace {

using ops::op;
using ops::ValueId;

/// True if only the reference computes `problem`.
bool is_slow(const Problem& problem) {
  for (const Implementation& implementation : implementations(problem.op))
    if (implementation.prepare(problem)) return implementation.name == "reference";
  return true;
}

class Widener {
 public:
  explicit Widener(PlanGraph& graph) : graph_(graph) {}

  void run() {
    std::vector<PlanNode> nodes = std::move(graph_.nodes);
    graph_.nodes.clear();
    for (PlanNode& node : nodes) {
      const bool wide = is_to_be_widened(node);
      for (ValueId& value : node.inputs)
        if (value != ops::no_value) value = wide ? widened(value) : original(value);
      const auto results = node.outputs;
      if (wide)
        for (ValueId& value : node.outputs) value = twin(value);
      graph_.nodes.push_back(std::move(node));
      if (!wide) continue;
      for (const ValueId value : results)
        if (graph_.is_output(value)) original(value);
    }
  }

 private:
  bool is_float16(ValueId value) const {
    return value != ops::no_value && graph_.values[value].descriptor.data_type == DataType::float16;
  }

  /// True if the node has float16, is slow in it, and is not slow in float32. A node that only
  /// moves elements keeps the type of its inputs.
  bool is_to_be_widened(const PlanNode& node) const {
    const bool takes = std::ranges::any_of(node.inputs, [&](auto v) { return is_float16(v); });
    const bool makes = std::ranges::all_of(node.outputs, [&](auto v) { return is_float16(v); });
    if (!takes || !makes || node.op == op("cast")) return false;
    if (ops::row(node.op).family == ops::Family::movement)
      return std::ranges::all_of(node.inputs, [&](auto value) {
        return !is_float16(value) || wide_.contains(value) || graph_.is_constant(value);
      });
    Problem problem = problem_of(graph_, node);
    if (!is_slow(problem)) return false;
    if (node.op == op("gemm")) return true;  // in float32, split_gemm leaves none to the reference
    for (auto* slots : {&problem.inputs, &problem.outputs})
      for (Slot& slot : *slots) {
        slot.constant.reset();
        if (slot.descriptor.data_type == DataType::float16)
          slot.descriptor.data_type = DataType::float32;
      }
    return !is_slow(problem);
  }

  /// The float32 twin of `value`.
  ValueId twin(ValueId value) {
    const auto [at, added] = wide_.try_emplace(value, ops::no_value);
    if (added) {
      PlanValue wide;
      wide.descriptor = {DataType::float32, graph_.values[value].descriptor.shape};
      at->second = graph_.add_value(std::move(wide));
    }
    return at->second;
  }

  void add_cast(ValueId from, ValueId to) {
    graph_.nodes.push_back(unary_node(
        op("cast"), CastAttributes{graph_.values[to].descriptor.data_type}, from, to, {}));
  }

  ValueId widened(ValueId value) {
    if (!is_float16(value)) return value;
    if (const auto known = wide_.find(value); known != wide_.end()) return known->second;
    if (graph_.is_constant(value)) return wide_[value] = widened_constant(value);
    const ValueId wide = twin(value);
    narrow_.insert(value);
    add_cast(value, wide);
    return wide;
  }

  ValueId widened_constant(ValueId value) {
    const PlanValue& constant = graph_.values[value];
    const auto* halves = reinterpret_cast<const float16*>(constant.constant->data());
    std::vector<float> floats(*element_count(constant.descriptor.shape));
    std::transform(halves, halves + floats.size(), floats.begin(),
                   [](float16 half) { return to_float(half); });
    return graph_.add_constant(Shape(constant.descriptor.shape), floats);
  }

  /// The float16 value itself. Casts it from its twin if only the twin exists.
  ValueId original(ValueId value) {
    if (wide_.contains(value) && !graph_.is_constant(value) && narrow_.insert(value).second)
      add_cast(wide_[value], value);
    return value;
  }

  PlanGraph& graph_;
  std::map<ValueId, ValueId> wide_;  ///< the float32 twins
  std::set<ValueId> narrow_;         ///< values that have a twin and also exist themselves
};

}  // namespace

void widen_float16(PlanGraph& graph) {
  const auto half = [](const PlanValue& v) { return v.descriptor.data_type == DataType::float16; };
  if (std::ranges::any_of(graph.values, half)) Widener(graph).run();
}

}  // namespace polychron::kernels
