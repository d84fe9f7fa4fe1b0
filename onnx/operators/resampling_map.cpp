#include "onnx/operators/resampling_map.hpp"

#include <algorithm>
#include <cmath>

namespace polychron::onnx::detail {

namespace {

using Axis = ResampledAxis;
using Rules = ResamplingRules;

/// The input coordinate of output coordinate `i`.
double coordinate(const Rules& rules, const Axis& axis, std::uint32_t i) {
  const double x = i;
  const double in = axis.input;
  const double out = axis.output;
  switch (rules.coordinates) {
    case Coordinates::asymmetric:
      return x / axis.scale;
    case Coordinates::tf_half_pixel_for_nn:
      return (x + 0.5) / axis.scale;
    case Coordinates::align_corners: {
      // ONNX's own implementation uses the length before it is rounded down.
      auto length = axis.scale * in;
      if (std::abs(length - std::round(length)) < 1e-4) length = std::round(length);
      return length == 1 || out == 1 ? 0 : x * (in - 1) / (length - 1);
    }
    case Coordinates::tf_crop_and_resize:
      if (out == 1) return (axis.start + axis.end) / 2 * (in - 1);
      return axis.start * (in - 1) + x * (axis.end - axis.start) * (in - 1) / (out - 1);
    case Coordinates::half_pixel_symmetric: {
      const double adjustment = out / (axis.scale * in);
      return in / 2 * (1 - adjustment) + (x + 0.5) / axis.scale - 0.5;
    }
    case Coordinates::pytorch_half_pixel:
      if (out == 1) return 0;
      [[fallthrough]];
    case Coordinates::half_pixel:
      break;
  }
  return (x + 0.5) / axis.scale - 0.5;
}

double rounded(Rounding nearest, double x) {
  switch (nearest) {
    case Rounding::floor:
      return std::floor(x);
    case Rounding::ceil:
      return std::ceil(x);
    case Rounding::prefer_ceil:
      return std::floor(x + 0.5);
    case Rounding::prefer_floor:
      break;
  }
  return std::ceil(x - 0.5);
}

double scale_of_sizes(const Axis& axis) { return static_cast<double>(axis.output) / axis.input; }

double linear_position(const Rules& rules, const Axis& axis, std::uint32_t i) {
  return std::clamp(coordinate(rules, axis, i), 0.0, static_cast<double>(axis.input - 1));
}

/// The weight of an element at distance `x`.
double kernel(const Rules& rules, double x) {
  x = std::abs(x);
  if (rules.mode == Interpolation::linear) return std::max(0.0, 1 - x);
  const auto a = rules.cubic_a;
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

}  // namespace

std::vector<Tap> taps(const Rules& rules, const Axis& axis, std::uint32_t i) {
  const auto position = coordinate(rules, axis, i);
  const auto low = std::floor(position);
  // With antialias the kernel is as wide as the elements that merge into one.
  const auto squeeze = rules.antialias ? std::min(1.0, axis.scale) : 1.0;
  const auto reach = rules.mode == Interpolation::linear ? 1.0 : 2.0;
  const auto first = std::floor(-reach / squeeze) + 1;
  const auto last = 1 - first;
  std::vector<Tap> list;
  double sum = 0;
  for (auto k = first; k <= last; ++k) {
    const auto weight = kernel(rules, (k - (position - low)) * squeeze);
    const auto index = low + k;
    const bool outside = index < 0 || index >= axis.input;
    if (weight == 0 || (outside && rules.exclude_outside)) continue;
    const auto clamped = std::clamp(index, 0.0, static_cast<double>(axis.input - 1));
    list.push_back({static_cast<std::uint32_t>(clamped), weight});
    sum += weight;
  }
  if (rules.antialias || rules.exclude_outside)
    for (auto& tap : list) tap.weight /= sum;
  return list;
}

std::uint32_t nearest_index(const Rules& rules, const Axis& axis, std::uint32_t i) {
  const auto last = static_cast<double>(axis.input - 1);
  return static_cast<std::uint32_t>(
      std::clamp(rounded(rules.nearest, coordinate(rules, axis, i)), 0.0, last));
}

bool is_outside(const Rules& rules, const Axis& axis, std::uint32_t i) {
  if (rules.coordinates != Coordinates::tf_crop_and_resize) return false;
  const auto position = coordinate(rules, axis, i);
  return position < 0 || position > axis.input - 1.0;
}

bool has_webnn_rules(const Rules& rules, const Axis& axis) {
  if (rules.mode == Interpolation::cubic || rules.antialias || rules.exclude_outside) return false;
  const auto coordinates = rules.coordinates;
  if (coordinates == Coordinates::tf_crop_and_resize) return false;
  if (axis.input == 1) return true;  // every position is the one element
  if (axis.scale != scale_of_sizes(axis)) return false;
  const bool half_pixels = coordinates == Coordinates::half_pixel ||
                           coordinates == Coordinates::half_pixel_symmetric ||
                           (coordinates == Coordinates::pytorch_half_pixel && axis.output > 1);
  if (half_pixels &&
      (rules.mode == Interpolation::linear || rules.nearest == Rounding::prefer_floor))
    return true;
  // Elements that stay where they are.
  return axis.output == axis.input && coordinates != Coordinates::tf_half_pixel_for_nn;
}

bool is_webnn_map(const Rules& rules, const Axis& axis) {
  if (has_webnn_rules(rules, axis)) return true;
  if (rules.mode == Interpolation::cubic || rules.antialias || rules.exclude_outside) return false;
  const Rules webnn{.mode = rules.mode};
  const Axis sized{axis.input, axis.output, scale_of_sizes(axis)};
  for (std::uint32_t i = 0; i < axis.output; ++i) {
    if (is_outside(rules, axis, i)) return false;
    if (rules.mode == Interpolation::linear) {
      const auto difference = linear_position(rules, axis, i) - linear_position(webnn, sized, i);
      if (std::abs(difference) > 1e-5) return false;
    } else if (nearest_index(rules, axis, i) != nearest_index(webnn, sized, i)) {
      return false;
    }
  }
  return true;
}

}  // namespace polychron::onnx::detail
