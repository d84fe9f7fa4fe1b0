// The rows of convolutions in our own loops: which problems each takes, and why it refuses others.
// All but those of transposed convolutions take pictures in blocks of channels.
#include <algorithm>

#include "kernels/direct/direct.hpp"
#include "kernels/direct/window_panels.hpp"
#include "kernels/epilogue.hpp"
#include "kernels/fusion.hpp"
#include "kernels/vectors.hpp"
#include "kernels/window_range.hpp"
#include "ops/layouts.hpp"
#include "ops/table.hpp"

namespace polychron::kernels::direct {

namespace {

constexpr std::uint32_t least_channels = 16;  // of minimal filtering

/// The least channels of panels. oneDNN has fast kernels for fewer, except on Arm.
#if defined(__x86_64__)
constexpr std::uint32_t least_inputs = 8, least_outputs = 16;
#else
constexpr std::uint32_t least_inputs = 1, least_outputs = 1;
#endif

bool all_at_most(std::span<const std::uint32_t> numbers, std::uint32_t most) {
  return std::ranges::all_of(numbers, [most](std::uint32_t n) { return n <= most; });
}

/// The reason why all of these loops refuse a problem; nullopt if there is none.
Refusal common_refusal(const Problem& problem, const Conv2dAttributes& a) {
  if (!has_fused_vectors()) return "processors that multiply and add in one instruction only";
  if (a.input_layout != InputOperandLayout::nchw) return "nchw only";
  if (problem.inputs[0].layout != picture_layout() || problem.outputs[0].layout != picture_layout())
    return "this processor's blocks of channels only";
  if (!problem.inputs[1].constant) return "constant filters only";
  for (const Slot& slot : problem.inputs)
    if (slot.present && slot.descriptor.data_type != DataType::float32) return "float32 only";
  if (!epilogue_of(problem)) return "behind it an addition and a bound only";
  return std::nullopt;
}

}  // namespace

Refusal refuse_minimal_filtering(const Problem& problem) {
  const auto& a = std::get<Conv2dAttributes>(problem.attributes);
  if (auto why = common_refusal(problem, a)) return why;
  const Shape& filter = problem.inputs[1].descriptor.shape;
  const Shape& out = problem.outputs[0].descriptor.shape;
  if (a.groups != 1) return "without groups only";
  if (a.filter_layout != Conv2dFilterOperandLayout::oihw) return "oihw only";
  if (filter[2] != 3 || filter[3] != 3) return "windows of 3x3 only";
  if (!all_at_most(a.strides, 1) || !all_at_most(a.dilations, 1)) return "neighbouring pixels only";
  if (!all_at_most(a.padding, 1)) return "padding of at most 1 only";
  if (filter[0] < least_channels || filter[1] < least_channels)
    return "16 channels or more only: of fewer, the tiles are most of the work";
  // In a single row or column most of a tile would be padding.
  if (out[2] < 2 || out[3] < 2 || std::size_t{out[2]} * out[3] < 49)
    return "49 pixels or more only: for fewer, it takes longer to read the filters";
  return std::nullopt;
}

// On AVX2 oneDNN is faster at short sums and strides. (AMD Zen 3: 24 to 144 channels of 56x56 take
// 0.26 ms in panels and 0.24 with oneDNN, 1024 to 2048 by strides of 2 to 7x7 3.9 and 2.9.)
Refusal refuse_panels(const Problem& problem) {
  const auto& a = std::get<Conv2dAttributes>(problem.attributes);
  if (auto why = common_refusal(problem, a)) return why;
  const Shape& in = problem.inputs[0].descriptor.shape;
  const Shape& filter = problem.inputs[1].descriptor.shape;
  const auto order = ops::filter_axes(a.filter_layout);
  if (a.groups != 1) return "without groups only";
  if (!all_at_most(a.strides, 2)) return "strides of 1 or 2 only";
  if (filter[order[0]] < least_outputs || filter[order[1]] < least_inputs)
    return "8 channels or more to 16 or more only";
  const std::size_t taps = std::size_t{filter[order[2]]} * filter[order[3]];
  if (taps > most_panel_taps) return "windows of at most 128 taps only";
  if (vectors() == Vectors::avx2) {
    if (taps * filter[order[1]] < 64) return "with AVX2, sums of 64 products or more only";
    if (!all_at_most(a.strides, 1)) return "with AVX2, neighbouring pixels only";
  }
  if (!windows_stay_near(a, in[2], in[3])) return "windows near the picture only";
  return std::nullopt;
}

Refusal refuse_depthwise(const Problem& problem) {
  const auto& a = std::get<Conv2dAttributes>(problem.attributes);
  if (auto why = common_refusal(problem, a)) return why;
  if (a.groups == 1 || a.groups != problem.inputs[0].descriptor.shape[1] ||
      a.groups != problem.outputs[0].descriptor.shape[1])
    return "one channel a group only";
  const Shape& filter = problem.inputs[1].descriptor.shape;
  const auto order = ops::filter_axes(a.filter_layout);
  const std::uint32_t window = filter[order[2]];
  if ((window != 3 && window != 5) || filter[order[3]] != window)
    return "windows of 3x3 or 5x5 only";
  if (!all_at_most(a.strides, 2)) return "strides of 1 or 2 only";
  if (!all_at_most(a.dilations, 1)) return "neighbouring pixels only";
  if (!all_at_most(a.padding, window - 1)) return "padding below the window only";
  return std::nullopt;
}

std::span<const Entry> convolution_entries() noexcept {
  constexpr auto conv2d = ops::op("conv2d");
  static constexpr Entry entries[] = {
      {ops::op("convTranspose2d"), prepare_scattered, by_scattering, refuse_scattered, true},
      {conv2d, prepare_depthwise, "depthwise", refuse_depthwise, true},
      {conv2d, prepare_minimal_filtering, by_minimal_filtering, refuse_minimal_filtering, true},
      {conv2d, prepare_panels, by_panels, refuse_panels, true}};
  return entries;
}

}  // namespace polychron::kernels::direct
