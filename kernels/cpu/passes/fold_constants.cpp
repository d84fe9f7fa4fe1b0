// Constant folding: the kernels themselves compute values that are known at build time.
#include <algorithm>

#include "kernels/cpu/passes/passes.hpp"
#include "kernels/cpu/plan.hpp"
#include "ops/table.hpp"

namespace polychron::kernels {
namespace {

/// Larger results are computed in each execution: a plan should not grow by values that it can
/// make.
constexpr std::size_t largest_folded = std::size_t{16} << 20;
/// A limit on the multiplications of all results together: a second or two at worst. A model of few
/// bytes could otherwise ask for any amount of time.
constexpr std::uint64_t most_work = 1'000'000'000;

std::uint64_t saturating_product(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? most_work + 1 : product;
}

std::uint64_t elements(const PlanGraph& graph, ops::ValueId value) {
  return value == ops::no_value ? 0 : *element_count(graph.values[value].descriptor.shape);
}

/// A rough lower bound of the kernel's work: at least one step for each element that it reads or
/// writes. A result of a product or window takes as many steps as the longest dimension or the
/// second operand has elements. A step of a recurrent network costs more than a product, even a
/// small one.
std::uint64_t work_of(const PlanGraph& graph, const PlanNode& node) {
  std::uint64_t results = 0, operands = 0, longest = 1;
  for (const auto value : node.outputs) results += elements(graph, value);
  for (const auto value : node.inputs) operands += elements(graph, value);
  for (const auto extent : graph.values[node.inputs[0]].descriptor.shape)
    longest = std::max<std::uint64_t>(longest, extent);
  switch (ops::row(node.op).family) {
    case ops::Family::matrix:
      return operands + saturating_product(results, longest);
    case ops::Family::recurrent:
      return saturating_product(operands + results, 64) +
             saturating_product(elements(graph, node.inputs[0]), elements(graph, node.inputs[1]));
    case ops::Family::convolution:
      return operands + saturating_product(results, elements(graph, node.inputs[1]));
    case ops::Family::pooling:
      return operands + saturating_product(results, operands);
    default:
      return operands + results;
  }
}

void compute(PlanGraph& graph, const PlanNode& node) {
  const Problem problem = problem_of(graph, node);
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

ops::ConstantBytes folded(PlanGraph& graph, const Uses& uses, ops::ValueId value,
                          std::uint64_t& bytes, std::size_t depth) {
  if (graph.is_constant(value)) return graph.values[value].constant;
  const std::size_t index = uses.producer[value];
  if (index == Uses::none || is_internal(graph.nodes[index].op) || depth == 0 ||
      graph.nodes[index].outputs.size() != 1)
    return nullptr;
  std::uint64_t touched = *byte_length(graph.values[value].descriptor);
  for (const ops::ValueId input : graph.nodes[index].inputs) {
    if (input == ops::no_value) continue;
    if (!folded(graph, uses, input, bytes, depth - 1)) return nullptr;
    touched += elements(graph, input);
  }
  // Only what moves or converts elements is as cheap as that.
  if (touched > std::min<std::uint64_t>(bytes, largest_folded) ||
      work_of(graph, graph.nodes[index]) > touched)
    return nullptr;
  bytes -= touched;
  compute(graph, graph.nodes[index]);
  graph.nodes[index].removed = true;
  return graph.values[value].constant;
}

void fold_constants(PlanGraph& graph) {
  std::uint64_t bytes = most_bytes_added(graph), work = most_work;
  for (PlanNode& node : graph.nodes) {
    const bool constant = std::all_of(node.inputs.begin(), node.inputs.end(), [&](auto value) {
      return value == ops::no_value || graph.is_constant(value);
    });
    const bool small = std::all_of(node.outputs.begin(), node.outputs.end(), [&](auto value) {
      return *byte_length(graph.values[value].descriptor) <= largest_folded;
    });
    if (node.removed || is_internal(node.op) || !constant || !small) continue;
    std::uint64_t made = 0;
    for (const auto value : node.outputs) made += *byte_length(graph.values[value].descriptor);
    const auto steps = work_of(graph, node);
    if (made > bytes || steps > work) continue;
    bytes -= made;
    work -= steps;
    compute(graph, node);
    node.removed = true;
  }
  graph.sweep();
}

}  // namespace polychron::kernels
