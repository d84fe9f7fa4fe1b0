#include "kernels/chain.hpp"

#include <algorithm>

#include "ops/infer.hpp"

namespace polychron::kernels {
namespace {

using ops::op;

bool is_single(const OperandDescriptor& descriptor) { return element_count(descriptor.shape) == 1; }

/// The type of the result of a step. nullopt if its operator refuses the operands.
std::optional<DataType> result_of(const PostOp& step, const std::vector<OperandDescriptor>& in) {
  if (is_internal(step.op)) return in.empty() ? std::nullopt : std::optional(in[0].data_type);
  std::vector<const OperandDescriptor*> operands;
  for (const OperandDescriptor& descriptor : in) operands.push_back(&descriptor);
  try {
    const auto results =
        ops::infer(ops::row(step.op), operands, step.attributes, {}, ops::OptionsAre::cast);
    if (results.size() == 1) return results[0].data_type;
  } catch (const Error&) {
  }
  return std::nullopt;
}

}  // namespace

bool is_chain_operator(ops::OpId id, const Attributes& attributes) {
  return is(id, ops::Family::elementwise) || id == op("cast") || id == op("where") ||
         id == op_swish ||
         (is(id, ops::Family::activation) &&
          !std::holds_alternative<SoftmaxAttributes>(attributes));
}

std::optional<std::vector<DataType>> chain_types(const Problem& problem) {
  const auto usable = [](const OperandDescriptor& d) {
    return !is_packed(d.data_type) && byte_size(d.data_type) <= most_chain_bytes;
  };
  if (problem.op != op_chain || problem.outputs.size() != 1 || problem.post_ops.empty() ||
      problem.post_ops.size() > most_chain_steps)
    return std::nullopt;
  const Slot& result = problem.outputs[0];
  for (const Slot& slot : problem.inputs)
    if (!slot.present || !slot.lies_plain() || !usable(slot.descriptor) ||
        (!is_single(slot.descriptor) && slot.descriptor.shape != result.descriptor.shape))
      return std::nullopt;
  std::vector<DataType> types;
  for (const PostOp& step : problem.post_ops) {
    std::vector<OperandDescriptor> in;
    for (const std::uint32_t operand : step.operands) {
      const std::size_t count = problem.inputs.size();
      if (operand >= count + types.size()) return std::nullopt;
      in.push_back(operand < count
                       ? problem.inputs[operand].descriptor
                       : OperandDescriptor{types[operand - count], result.descriptor.shape});
    }
    const auto type =
        is_chain_operator(step.op, step.attributes) ? result_of(step, in) : std::nullopt;
    if (!type || !usable({*type, {}})) return std::nullopt;
    types.push_back(*type);
  }
  if (!result.lies_plain() || types.back() != result.descriptor.data_type) return std::nullopt;
  return types;
}

Problem chain_step(const Problem& problem, const std::vector<DataType>& types, std::size_t step,
                   std::uint32_t count) {
  const PostOp& what = problem.post_ops[step];
  const bool one = is_single(problem.outputs[0].descriptor);
  Problem alone;
  alone.op = what.op;
  alone.attributes = what.attributes;
  alone.label = problem.label;
  for (const std::uint32_t operand : what.operands) {
    Slot& slot = alone.inputs.emplace_back();
    if (operand < problem.inputs.size()) {
      const Slot& input = problem.inputs[operand];
      const bool single = is_single(input.descriptor) && !one;
      slot.descriptor = {input.descriptor.data_type, single ? Shape{} : Shape{count}};
      if (single) slot.constant = input.constant;
    } else {
      slot.descriptor = {types[operand - problem.inputs.size()], {count}};
    }
  }
  alone.own_inputs = alone.inputs.size();
  alone.outputs.emplace_back().descriptor = {types[step], {count}};
  return alone;
}

std::unique_ptr<Kernel> prepare_chain_step(const Problem& step) {
  std::unique_ptr<Kernel> best;
  for (const Implementation& row : implementations(step.op)) {
    if (row.name != "direct" && (row.name != "eigen" || best)) continue;
    auto kernel = row.prepare(step);
    if (!kernel || (*kernel)->scratch_bytes() != 0) continue;
    best = std::move(*kernel);
    if (row.name == "direct") break;  // compiled for wider vectors than Eigen's
  }
  return best;
}

}  // namespace polychron::kernels
