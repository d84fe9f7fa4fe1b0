#include "kernels/rms_normalization.hpp"

#include <algorithm>

namespace polychron::kernels {

std::optional<RmsNormalization> rms_normalization(const Problem& problem) {
  const auto* const a = std::get_if<LayerNormalizationAttributes>(&problem.attributes);
  const std::size_t operands = problem.inputs.size();
  if (problem.op != op_rms_normalization || a == nullptr || operands < 1 || operands > 2 ||
      problem.own_inputs != operands || !problem.post_ops.empty() || problem.outputs.size() != 1)
    return std::nullopt;
  const auto takes = [](const Slot& slot) {
    return slot.present && slot.lies_plain() && slot.descriptor.data_type == DataType::float32;
  };
  const Slot& x = problem.inputs[0];
  const Shape& shape = x.descriptor.shape;
  if (!std::ranges::all_of(problem.inputs, takes) || !takes(problem.outputs[0]) ||
      problem.outputs[0].descriptor != x.descriptor || shape.empty() || !a->axes ||
      a->axes->size() != 1 || a->axes->front() + 1 != shape.size())
    return std::nullopt;
  const std::size_t count = shape.back();
  if (operands == 2) {
    const Shape& scale = problem.inputs[1].descriptor.shape;
    if (scale.empty() || scale.back() != count || element_count(scale) != count)
      return std::nullopt;
  }
  return RmsNormalization{*element_count(shape) / count, count, a->epsilon};
}

}  // namespace polychron::kernels
