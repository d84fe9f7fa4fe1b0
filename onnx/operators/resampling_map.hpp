// Which elements of an axis a resampled one is made of: ONNX's many ways to map coordinates.
#pragma once

#include <cstdint>
#include <vector>

namespace polychron::onnx::detail {

struct ResampledAxis {
  std::uint32_t input = 1;
  std::uint32_t output = 1;
  double scale = 1;
  double start = 0, end = 1;  ///< the region of tf_crop_and_resize, in lengths of the axis
};

enum class Interpolation { nearest, linear, cubic };

/// coordinate_transformation_mode
enum class Coordinates {
  asymmetric,
  align_corners,
  half_pixel,
  pytorch_half_pixel,
  half_pixel_symmetric,
  tf_half_pixel_for_nn,
  tf_crop_and_resize,
};

/// nearest_mode
enum class Rounding { prefer_floor, prefer_ceil, floor, ceil };

struct ResamplingRules {
  Coordinates coordinates = Coordinates::half_pixel;
  Rounding nearest = Rounding::prefer_floor;
  Interpolation mode = Interpolation::nearest;
  double cubic_a = -0.75;
  bool exclude_outside = false;
  bool antialias = false;
};

/// An element of the input, and its weight.
struct Tap {
  std::uint32_t index = 0;
  double weight = 0;
};

/// The elements of which output element `i` is made, by linear or cubic interpolation.
std::vector<Tap> taps(const ResamplingRules& rules, const ResampledAxis& axis, std::uint32_t i);

/// The element that output element `i` is, in mode nearest.
std::uint32_t nearest_index(const ResamplingRules& rules, const ResampledAxis& axis,
                            std::uint32_t i);

/// It lies outside of the input, where tf_crop_and_resize has its extrapolation_value.
bool is_outside(const ResamplingRules& rules, const ResampledAxis& axis, std::uint32_t i);

/// It is mapped as resample2d does by its rules alone: no position has to be looked at. Another may
/// be, too (is_webnn_map), position by position.
bool has_webnn_rules(const ResamplingRules& rules, const ResampledAxis& axis);

/// The axis is mapped as resample2d does, which takes its scale from the sizes.
bool is_webnn_map(const ResamplingRules& rules, const ResampledAxis& axis);

}  // namespace polychron::onnx::detail
