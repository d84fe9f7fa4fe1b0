// The coordinate maps of ONNX's Resize: the input elements for each output element of an axis.
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

/// The input elements and weights of output element `i`, for linear or cubic interpolation.
std::vector<Tap> taps(const ResamplingRules& rules, const ResampledAxis& axis, std::uint32_t i);

/// The input element of output element `i`, in mode nearest.
std::uint32_t nearest_index(const ResamplingRules& rules, const ResampledAxis& axis,
                            std::uint32_t i);

/// True if it is outside of the input, where tf_crop_and_resize uses extrapolation_value.
bool is_outside(const ResamplingRules& rules, const ResampledAxis& axis, std::uint32_t i);

/// True if the rules alone show that the map is resample2d's, without a check of positions. Other
/// axes may have that map too: see is_webnn_map().
bool has_webnn_rules(const ResamplingRules& rules, const ResampledAxis& axis);

/// True if the map is resample2d's, which takes its scale from the sizes.
bool is_webnn_map(const ResamplingRules& rules, const ResampledAxis& axis);

}  // namespace polychron::onnx::detail
