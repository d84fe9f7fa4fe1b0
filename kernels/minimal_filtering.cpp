#include "kernels/minimal_filtering.hpp"

#include <algorithm>

#include "kernels/vectors.hpp"
#include "ops/table.hpp"

namespace polychron::kernels {
namespace {

/// A picture that is added, then relu; or one of them, or neither.
bool is_simple(const Problem& problem) {
  auto post = problem.post_ops.begin();
  const auto end = problem.post_ops.end();
  if (post != end && post->op == ops::op("add") && post->operands.size() == 1 &&
      problem.inputs[post->operands[0]].descriptor == problem.outputs[0].descriptor)
    ++post;
  if (post != end && post->op == ops::op("relu")) ++post;
  return post == end;
}

}  // namespace

bool suits_minimal_filtering(const Problem& problem) {
  const auto* const a = std::get_if<Conv2dAttributes>(&problem.attributes);
  if (!has_avx512() || a == nullptr || a->groups != 1 ||
      a->input_layout != InputOperandLayout::nchw ||
      a->filter_layout != Conv2dFilterOperandLayout::oihw || !problem.inputs[1].constant)
    return false;
  const auto is_one = [](std::uint32_t n) { return n == 1; };
  if (!std::ranges::all_of(a->strides, is_one) || !std::ranges::all_of(a->dilations, is_one) ||
      std::ranges::any_of(a->padding, [](std::uint32_t p) { return p > 1; }))
    return false;
  if (std::ranges::any_of(problem.inputs, [](const Slot& slot) {
        return slot.present && slot.descriptor.data_type != DataType::float32;
      }))
    return false;
  const Shape& filter = problem.inputs[1].descriptor.shape;
  const Shape& out = problem.outputs[0].descriptor.shape;
  return filter[0] >= 16 && filter[1] >= 16 && filter[2] == 3 && filter[3] == 3 && out[2] >= 2 &&
         out[3] >= 2 && std::size_t{out[2]} * out[3] >= 49 && is_simple(problem);
}

}  // namespace polychron::kernels
