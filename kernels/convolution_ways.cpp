#include "kernels/convolution_ways.hpp"

#include <algorithm>

#include "kernels/epilogue.hpp"
#include "kernels/taps.hpp"
#include "kernels/vectors.hpp"
#include "ops/layouts.hpp"

namespace polychron::kernels {
namespace {

constexpr std::uint32_t block = 16;  // channels of a vector

/// A convolution in float32, as the loops take it: null if it is another.
const Conv2dAttributes* usual(const Problem& problem) {
  const auto* const a = std::get_if<Conv2dAttributes>(&problem.attributes);
  if (!has_avx512() || a == nullptr || a->input_layout != InputOperandLayout::nchw ||
      !problem.inputs[1].constant)
    return nullptr;
  const bool others = std::ranges::any_of(problem.inputs, [](const Slot& slot) {
    return slot.present && slot.descriptor.data_type != DataType::float32;
  });
  return others ? nullptr : a;
}

}  // namespace

bool suits_minimal_filtering(const Problem& problem) {
  const auto* const a = usual(problem);
  if (a == nullptr || a->groups != 1 || a->filter_layout != Conv2dFilterOperandLayout::oihw)
    return false;
  const auto is_one = [](std::uint32_t n) { return n == 1; };
  if (!std::ranges::all_of(a->strides, is_one) || !std::ranges::all_of(a->dilations, is_one) ||
      std::ranges::any_of(a->padding, [](std::uint32_t p) { return p > 1; }))
    return false;
  const Shape& filter = problem.inputs[1].descriptor.shape;
  const Shape& out = problem.outputs[0].descriptor.shape;
  return filter[0] >= block && filter[1] >= block && filter[2] == 3 && filter[3] == 3 &&
         out[2] >= 2 && out[3] >= 2 && std::size_t{out[2]} * out[3] >= 49 &&
         epilogue_of(problem).has_value();
}

bool suits_panels(const Problem& problem) {
  const auto* const a = usual(problem);
  if (a == nullptr || a->groups != 1 ||
      std::ranges::any_of(a->strides, [](std::uint32_t s) { return s > 2; }))
    return false;
  const Shape& in = problem.inputs[0].descriptor.shape;
  const Shape& filter = problem.inputs[1].descriptor.shape;
  const auto order = ops::filter_axes(a->filter_layout);
  return filter[order[0]] >= block && filter[order[1]] >= block / 2 &&
         std::size_t{filter[order[2]]} * filter[order[3]] <= most_panel_taps &&
         windows_stay_near(*a, in[2], in[3]) && epilogue_of(problem).has_value();
}

bool suits_depthwise(const Problem& problem) {
  const auto* const a = usual(problem);
  if (a == nullptr || a->groups == 1 || a->groups != problem.inputs[0].descriptor.shape[1] ||
      a->groups != problem.outputs[0].descriptor.shape[1])
    return false;
  const Shape& filter = problem.inputs[1].descriptor.shape;
  const auto order = ops::filter_axes(a->filter_layout);
  const std::uint32_t window = filter[order[2]];
  return (window == 3 || window == 5) && filter[order[3]] == window &&
         std::ranges::all_of(a->strides, [](std::uint32_t s) { return s <= 2; }) &&
         std::ranges::all_of(a->dilations, [](std::uint32_t d) { return d == 1; }) &&
         std::ranges::all_of(a->padding, [&](std::uint32_t p) { return p < window; }) &&
         epilogue_of(problem).has_value();
}

}  // namespace polychron::kernels
