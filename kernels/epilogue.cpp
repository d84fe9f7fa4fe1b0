#include "kernels/epilogue.hpp"

#include "ops/table.hpp"

namespace polychron::kernels {

float bound_of(const std::optional<Number>& number, float otherwise) {
  if (!number) return otherwise;
  return std::visit([](auto value) { return static_cast<float>(value); }, *number);
}

std::optional<Epilogue> epilogue_of(const Problem& problem) {
  Epilogue epilogue;
  if (problem.own_inputs > 2 && problem.inputs[2].present) epilogue.bias = 2;
  auto post = problem.post_ops.begin();
  const auto end = problem.post_ops.end();
  if (post != end && post->op == ops::op("add") && post->operands.size() == 1 &&
      problem.inputs[post->operands[0]].descriptor == problem.outputs[0].descriptor) {
    epilogue.added = post->operands[0];
    if (problem.inputs[epilogue.added].layout != problem.outputs[0].layout) return std::nullopt;
    ++post;
  }
  if (post != end && post->op == ops::op("relu")) {
    epilogue.lowest = 0;
    ++post;
  } else if (post != end && post->op == ops::op("clamp")) {
    const auto& a = std::get<ClampAttributes>(post->attributes);
    epilogue.lowest = bound_of(a.min_value, epilogue.lowest);
    epilogue.highest = bound_of(a.max_value, epilogue.highest);
    ++post;
  }
  return post == end ? std::optional(epilogue) : std::nullopt;
}

}  // namespace polychron::kernels
