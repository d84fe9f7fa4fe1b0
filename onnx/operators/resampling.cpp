// Resize, and Upsample, its predecessor of opset 9.
//
// ONNX has many ways to map an output coordinate to the input, WebNN's resample2d has one. So the
// map is worked out for each axis: where it is WebNN's, resample2d does it; any other nearest map
// is a gather along its axis, any other linear map a product with a matrix of weights.
#include <algorithm>
#include <array>
#include <cmath>

#include "onnx/handlers.hpp"
#include "onnx/operators/reshape.hpp"

namespace polychron::onnx::detail {

namespace {

struct Axis {
  std::uint32_t input = 1;
  std::uint32_t output = 1;
  double scale = 1;
};

struct Rules {
  std::string coordinates;  ///< coordinate_transformation_mode
  std::string nearest;      ///< nearest_mode
  bool linear = false;
};

/// Where output coordinate `i` lies in the input.
double coordinate(const Rules& rules, const Axis& axis, std::uint32_t i) {
  const double x = i;
  const double in = axis.input;
  const double out = axis.output;
  if (rules.coordinates == "asymmetric") return x / axis.scale;
  if (rules.coordinates == "align_corners") return out == 1 ? 0 : x * (in - 1) / (out - 1);
  if (rules.coordinates == "pytorch_half_pixel" && out == 1) return 0;
  if (rules.coordinates == "half_pixel_symmetric") {
    const double adjustment = out / (axis.scale * in);
    return in / 2 * (1 - adjustment) + (x + 0.5) / axis.scale - 0.5;
  }
  return (x + 0.5) / axis.scale - 0.5;
}

double rounded(const Rules& rules, double x) {
  if (rules.nearest == "floor") return std::floor(x);
  if (rules.nearest == "ceil") return std::ceil(x);
  if (rules.nearest == "round_prefer_ceil") return std::floor(x + 0.5);
  return std::ceil(x - 0.5);
}

std::int64_t nearest_index(const Rules& rules, const Axis& axis, std::uint32_t i) {
  const auto last = static_cast<double>(axis.input - 1);
  return static_cast<std::int64_t>(
      std::clamp(rounded(rules, coordinate(rules, axis, i)), 0.0, last));
}

double linear_position(const Rules& rules, const Axis& axis, std::uint32_t i) {
  return std::clamp(coordinate(rules, axis, i), 0.0, static_cast<double>(axis.input - 1));
}

/// The axis is mapped as resample2d does, which takes its scale from the sizes.
bool is_webnn_map(const Rules& rules, const Axis& axis) {
  const Rules webnn{"half_pixel", "round_prefer_floor", rules.linear};
  const Axis sized{axis.input, axis.output, static_cast<double>(axis.output) / axis.input};
  for (std::uint32_t i = 0; i < axis.output; ++i) {
    if (rules.linear) {
      const auto difference = linear_position(rules, axis, i) - linear_position(webnn, sized, i);
      if (std::abs(difference) > 1e-5) return false;
    } else if (nearest_index(rules, axis, i) != nearest_index(webnn, sized, i)) {
      return false;
    }
  }
  return true;
}

Operand gather_axis(Node& node, const Operand& input, const Rules& rules, const Axis& axis,
                    std::uint32_t d) {
  std::vector<std::int64_t> at(axis.output);
  for (std::uint32_t i = 0; i < axis.output; ++i) at[i] = nearest_index(rules, axis, i);
  auto options = node.options<GatherOptions>();
  options.axis = d;
  const auto indices =
      make_constant(node.builder, make_literal(ElementType::int32, {axis.output}, at));
  return node.builder.gather(input, indices, options);
}

/// [before, in, after] becomes [before, out, after] by a product with weights [out, in].
Operand interpolate_axis(Node& node, const Operand& input, const Rules& rules, const Axis& axis,
                         std::uint32_t d) {
  if (std::uint64_t{axis.input} * axis.output > max_calculated * 16)
    unsupported("linear resampling of such an axis in mode " + quote(rules.coordinates));
  std::vector<double> weights(std::size_t{axis.input} * axis.output, 0.0);
  for (std::uint32_t i = 0; i < axis.output; ++i) {
    const auto position = linear_position(rules, axis, i);
    const auto low = static_cast<std::size_t>(position);
    const auto high = std::min<std::size_t>(low + 1, axis.input - 1);
    const auto share = position - static_cast<double>(low);
    weights[i * axis.input + low] += 1 - share;
    weights[i * axis.input + high] += share;
  }
  auto shape = input.shape();
  const auto middle = shape.begin() + d;
  const Shape rows{static_cast<std::uint32_t>(count({shape.begin(), middle})), axis.input,
                   static_cast<std::uint32_t>(count({middle + 1, shape.end()}))};
  const auto matrix = make_constant(
      node.builder, make_literal(ElementType::float32, {1, axis.output, axis.input}, weights));
  const auto product = node.builder.matmul(
      matrix, node.builder.reshape(input, rows, node.options()), node.options());
  shape[d] = axis.output;
  return node.builder.reshape(product, shape, node.options());
}

void resample(Node& node, const Rules& rules, const std::vector<Axis>& axes) {
  auto result = node.operand(0);
  std::vector<std::uint32_t> changed, plain;
  for (std::uint32_t d = 0; d < axes.size(); ++d) {
    if (axes[d].output == axes[d].input && is_webnn_map(rules, axes[d])) continue;
    changed.push_back(d);
    if (is_webnn_map(rules, axes[d])) plain.push_back(d);
  }
  if (changed.empty()) return node.forward(0);
  const bool four = axes.size() == 4 && plain.size() == changed.size() && plain.size() <= 2;
  if (four) {
    // resample2d takes two adjacent axes: the one that does not change is given with its own size.
    if (plain.size() == 1) plain.push_back(plain[0] == 3 ? 2 : plain[0] + 1);
    std::sort(plain.begin(), plain.end());
    if (plain[1] == plain[0] + 1) {
      auto options = node.options<Resample2dOptions>();
      options.mode = rules.linear ? InterpolationMode::linear : InterpolationMode::nearest_neighbor;
      options.axes = plain;
      options.sizes = {axes[plain[0]].output, axes[plain[1]].output};
      return node.set(node.builder.resample2d(result, options));
    }
  }
  for (const auto d : changed)
    result = rules.linear ? interpolate_axis(node, result, rules, axes[d], d)
                          : gather_axis(node, result, rules, axes[d], d);
  node.set(result);
}

std::vector<Axis> scaled_axes(const Shape& shape, const std::vector<std::uint32_t>& chosen,
                              const std::vector<double>& scales) {
  if (scales.size() != chosen.size()) malformed("there is not one scale an axis");
  std::vector<Axis> axes;
  for (const auto length : shape) axes.push_back({length, length, 1});
  for (std::size_t i = 0; i < scales.size(); ++i) {
    auto& axis = axes[chosen[i]];
    if (!(scales[i] > 0) || !std::isfinite(scales[i])) malformed("a scale that is not above 0");
    const auto output = std::floor(axis.input * scales[i]);
    if (output < 1 || output > static_cast<double>(max_tensor_byte_length))
      unsupported("a scale of " + std::to_string(scales[i]));
    axis.scale = scales[i];
    axis.output = static_cast<std::uint32_t>(output);
  }
  return axes;
}

std::vector<Axis> sized_axes(const Shape& shape, const std::vector<std::uint32_t>& chosen,
                             const std::vector<std::int64_t>& sizes) {
  if (sizes.size() != chosen.size()) malformed("there is not one size an axis");
  std::vector<Axis> axes;
  for (const auto length : shape) axes.push_back({length, length, 1});
  const auto outputs = to_shape(sizes);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    auto& axis = axes[chosen[i]];
    if (outputs[i] == 0 || outputs[i] > max_tensor_byte_length)
      unsupported("a size of " + std::to_string(outputs[i]));
    axis.output = outputs[i];
    axis.scale = static_cast<double>(outputs[i]) / axis.input;
  }
  return axes;
}

Rules read_rules(const Node& node) {
  const auto mode = node.text("mode", "nearest");
  if (mode != "nearest" && mode != "linear") unsupported("WebNN has no mode " + quote(mode));
  // Opset 10 and Upsample know one map only: asymmetric, rounded down.
  const bool modern = node.opset >= 11;
  Rules rules{modern ? node.text("coordinate_transformation_mode", "half_pixel") : "asymmetric",
              modern ? node.text("nearest_mode", "round_prefer_floor") : "floor", mode == "linear"};
  constexpr std::array known{"asymmetric", "align_corners", "half_pixel", "pytorch_half_pixel",
                             "half_pixel_symmetric"};
  if (std::find(known.begin(), known.end(), rules.coordinates) == known.end())
    unsupported("WebNN has no coordinate_transformation_mode " + quote(rules.coordinates));
  if (node.integer("antialias", 0) != 0) unsupported("WebNN has no antialias");
  if (node.integer("exclude_outside", 0) != 0) unsupported("WebNN has no exclude_outside");
  if (node.text("keep_aspect_ratio_policy", "stretch") != "stretch")
    unsupported("WebNN has no keep_aspect_ratio_policy");
  return rules;
}

std::vector<double> scales_of(const Node& node, std::size_t i) {
  const auto* known = node.literal(i);
  if (!known) unsupported("the scales must be known when it is imported");
  if (count(*known) > max_rank) malformed("there are too many scales");
  return reals(*known);
}

/// Scales are input 1 in opset 10 and for Upsample, input 2 since, with sizes as input 3.
void resize(Node& node) {
  const auto rules = read_rules(node);
  const auto& shape = node.shape(0);
  std::vector<std::uint32_t> chosen;
  if (const auto named = node.integer_list("axes")) {
    chosen = node.axes(*named, shape.size());
  } else {
    for (std::uint32_t d = 0; d < shape.size(); ++d) chosen.push_back(d);
  }
  for (const auto length : shape)
    if (length == 0) unsupported("an empty input, which WebNN has not");
  const std::size_t scales = node.opset >= 11 ? 2 : 1;
  const bool scaled = node.has_input(scales) && count(node.shape(scales)) != 0;
  if (scaled) return resample(node, rules, scaled_axes(shape, chosen, scales_of(node, scales)));
  if (node.opset < 11 || !node.has_input(3)) malformed("neither scales nor sizes are given");
  resample(node, rules, sized_axes(shape, chosen, node.integers(3)));
}

constexpr std::array rows{
    Row{"Resize", resize},
    Row{"Upsample", resize},
};

}  // namespace

std::span<const Row> resampling_rows() noexcept { return rows; }

}  // namespace polychron::onnx::detail
