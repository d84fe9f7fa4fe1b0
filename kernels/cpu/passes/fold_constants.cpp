// Constant folding: the kernels themselves compute what is known at build time.
#include <algorithm>

#include "kernels/cpu/passes/passes.hpp"
#include "kernels/cpu/plan.hpp"

namespace polychron::kernels {
namespace {

/// Results larger than this are computed each time: a plan should not grow by what it can make.
constexpr std::size_t largest_folded = std::size_t{16} << 20;

void compute(PlanGraph& graph, const PlanNode& node) {
  const Problem problem = problem_of(graph, node, 1);
  std::string text;
  const auto kernel = prepare_kernel(problem, text);
  std::vector<const std::byte*> inputs;
  std::vector<Buffer> results;
  std::vector<std::byte*> outputs;
  for (const Slot& slot : problem.inputs)
    inputs.push_back(slot.present ? slot.constant->data() : nullptr);
  for (const Slot& slot : problem.outputs) {
    results.emplace_back(*byte_length(slot.descriptor));
    outputs.push_back(results.back().data());
  }
  Buffer scratch(kernel->scratch_bytes() + 1);
  const Arguments arguments{inputs, outputs, scratch.data()};
  kernel->bind(arguments)->run();
  for (std::size_t i = 0; i < results.size(); ++i) {
    PlanValue& value = graph.values[node.outputs[i]];
    value.kind = ops::Value::Kind::constant;
    value.constant = std::make_shared<const Buffer>(std::move(results[i]));
  }
}

}  // namespace

void fold_constants(PlanGraph& graph) {
  for (PlanNode& node : graph.nodes) {
    const bool constant = std::all_of(node.inputs.begin(), node.inputs.end(), [&](auto value) {
      return value == ops::no_value || graph.is_constant(value);
    });
    const bool small = std::all_of(node.outputs.begin(), node.outputs.end(), [&](auto value) {
      return *byte_length(graph.values[value].descriptor) <= largest_folded;
    });
    if (node.removed || !constant || !small) continue;
    compute(graph, node);
    node.removed = true;
  }
  graph.sweep();
}

}  // namespace polychron::kernels
