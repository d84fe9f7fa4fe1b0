#include "kernels/rotary_embedding.hpp"

#include <algorithm>

#include "ops/dimensions.hpp"

namespace polychron::kernels {

std::optional<RotaryEmbedding> rotary_embedding(const Problem& problem) {
  const auto* const concat = std::get_if<ConcatAttributes>(&problem.attributes);
  const std::size_t operands = problem.inputs.size();
  if (problem.op != op_rotary_embedding || concat == nullptr || operands < 3 || operands > 4 ||
      problem.own_inputs != operands || !problem.post_ops.empty() || problem.outputs.size() != 1)
    return std::nullopt;
  const auto takes = [](const Slot& slot) {
    return slot.present && slot.lies_plain() && slot.descriptor.data_type == DataType::float32;
  };
  if (!std::ranges::all_of(problem.inputs, takes) || !takes(problem.outputs[0]))
    return std::nullopt;
  const auto shape = [&](std::size_t i) -> const Shape& {
    return problem.inputs[i].descriptor.shape;
  };
  const bool together = operands == 3;
  const Shape &whole = problem.outputs[0].descriptor.shape, &angles = shape(operands - 1);
  if (whole.empty() || whole.back() % 2 != 0) return std::nullopt;
  Shape half = whole;
  half.back() /= 2;
  const std::size_t rank = whole.size();
  const bool interleaved = concat->axis == rank;
  if (shape(0) != (together ? whole : half) || (!together && shape(1) != half) ||
      (!interleaved && concat->axis + 1 != rank) || angles != shape(operands - 2) ||
      angles.empty() || angles.back() != half.back() || !ops::broadcastable(angles, half))
    return std::nullopt;
  return RotaryEmbedding{Shape(half.begin(), half.end() - 1), half.back(), together, interleaved};
}

}  // namespace polychron::kernels
