// Resize, and Upsample, its predecessor up to opset 9.
//
// ONNX has many ways to map an output coordinate to the input; WebNN's resample2d has one. The
// importer computes the map of each axis. If it is WebNN's, it uses resample2d; any other nearest
// map becomes a gather along its axis, any other linear or cubic map a product with a matrix of
// weights.
#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "onnx/handlers.hpp"
#include "onnx/operators/resampling_map.hpp"
#include "onnx/operators/reshape.hpp"
#include "onnx/operators/term.hpp"

namespace polychron::onnx::detail {

namespace {

using Axis = ResampledAxis;
using Rules = ResamplingRules;

/// Bounds the axis, because the import loops over its positions before later checks.
void check_places(Node& node, const Axis& axis) {
  if (axis.output > max_calculated * 256)
    unsupported("resampling to an axis of " + std::to_string(axis.output) +
                " elements, which is not resample2d's");
  node.importer.spend_bytes(axis.output * sizeof(std::int64_t));
}

Operand gather_axis(Node& node, const Operand& input, const Rules& rules, const Axis& axis,
                    std::uint32_t d) {
  check_places(node, axis);
  std::vector<std::int64_t> at(axis.output);
  for (std::uint32_t i = 0; i < axis.output; ++i) at[i] = nearest_index(rules, axis, i);
  const auto indices =
      make_constant(node.importer, make_literal(ElementType::int32, {axis.output}, at));
  return node.builder.gather(input, indices, {.axis = d}, node.label());
}

/// [before, in, after] becomes [before, out, after] by a product with weights [out, in]; the last
/// axis is multiplied from the right, as one product of all rows.
Operand interpolate_axis(Node& node, const Operand& input, const Rules& rules, const Axis& axis,
                         std::uint32_t d) {
  if (std::uint64_t{axis.input} * axis.output > max_calculated * 16)
    unsupported("resampling of an axis from " + std::to_string(axis.input) + " to " +
                std::to_string(axis.output) + " elements, which is not resample2d's");
  node.importer.spend_bytes(std::uint64_t{axis.input} * axis.output * sizeof(double));
  std::vector<double> weights(std::size_t{axis.input} * axis.output, 0.0);
  for (std::uint32_t i = 0; i < axis.output; ++i)
    for (const auto& tap : taps(rules, axis, i)) weights[i * axis.input + tap.index] += tap.weight;
  auto shape = input.shape();
  const auto middle = shape.begin() + d;
  const auto before = static_cast<std::uint32_t>(count({shape.begin(), middle}));
  const auto after = static_cast<std::uint32_t>(count({middle + 1, shape.end()}));
  const auto type = element_type(input.data_type());
  const auto matrix =
      make_constant(node.importer, make_literal(type, {axis.output, axis.input}, weights));
  const auto reshaped = [&](const Operand& operand, const Shape& to) {
    return node.builder.reshape(operand, to, node.label());
  };
  shape[d] = axis.output;
  if (after == 1) {
    return reshaped(node.builder.gemm(reshaped(input, {before, axis.input}), matrix,
                                      {.b_transpose = true}, {}, node.label()),
                    shape);
  }
  return reshaped(node.builder.matmul(reshaped(matrix, {1, axis.output, axis.input}),
                                      reshaped(input, {before, axis.input, after}), node.label()),
                  shape);
}

/// Positions outside of the input get the extrapolation value.
Term extrapolated(Term x, const Rules& rules, const std::vector<Axis>& axes) {
  if (rules.coordinates != Coordinates::tf_crop_and_resize) return x;
  for (std::uint32_t d = 0; d < axes.size(); ++d) {
    std::vector<std::int64_t> outside(axes[d].output);
    for (std::uint32_t i = 0; i < axes[d].output; ++i)
      outside[i] = is_outside(rules, axes[d], i) ? 1 : 0;
    if (std::count(outside.begin(), outside.end(), 1) == 0) continue;
    Shape shape(axes.size(), 1);
    shape[d] = axes[d].output;
    const auto mask = constant(x.node(), ElementType::uint8, shape, outside);
    x = mask.choose(x.number(x.node().real("extrapolation_value", 0)), x);
  }
  return x;
}

bool is_webnn_map(Node& node, const Rules& rules, const Axis& axis) {
  if (has_webnn_rules(rules, axis)) return true;
  check_places(node, axis);
  return detail::is_webnn_map(rules, axis);
}

void resample(Node& node, const Rules& rules, const std::vector<Axis>& axes) {
  auto result = node.operand(0);
  std::vector<std::uint32_t> changed, plain;
  for (std::uint32_t d = 0; d < axes.size(); ++d) {
    const bool webnn = is_webnn_map(node, rules, axes[d]);
    if (webnn && axes[d].output == axes[d].input) continue;
    changed.push_back(d);
    if (webnn) plain.push_back(d);
  }
  if (changed.empty()) return node.forward(0);
  const bool four = axes.size() == 4 && plain.size() == changed.size() && plain.size() <= 2;
  if (four) {
    // resample2d takes two adjacent axes: an unchanged one gets its own size.
    if (plain.size() == 1) plain.push_back(plain[0] == 3 ? 2 : plain[0] + 1);
    std::sort(plain.begin(), plain.end());
    if (plain[1] == plain[0] + 1) {
      Resample2dAttributes attributes;
      attributes.mode = rules.mode == Interpolation::linear ? InterpolationMode::linear
                                                            : InterpolationMode::nearest_neighbor;
      attributes.axes = plain;
      attributes.sizes = {axes[plain[0]].output, axes[plain[1]].output};
      return node.set(node.builder.resample2d(result, attributes, node.label()));
    }
  }
  for (const auto d : changed)
    result = rules.mode == Interpolation::nearest
                 ? gather_axis(node, result, rules, axes[d], d)
                 : interpolate_axis(node, result, rules, axes[d], d);
  node.set(extrapolated(Term(node, result), rules, axes).operand());
}

std::vector<Axis> scaled_axes(const Shape& shape, const std::vector<std::uint32_t>& chosen,
                              const std::vector<double>& scales) {
  if (scales.size() != chosen.size()) malformed("expected one scale for each axis");
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

std::vector<Axis> sized_axes(const Node& node, const Shape& shape,
                             const std::vector<std::uint32_t>& chosen,
                             const std::vector<std::int64_t>& sizes) {
  if (sizes.size() != chosen.size()) malformed("expected one size for each axis");
  std::vector<Axis> axes;
  for (const auto length : shape) axes.push_back({length, length, 1});
  const auto outputs = to_shape(sizes);
  const auto policy = node.text("keep_aspect_ratio_policy", "stretch");
  double common = policy == "not_larger" ? INFINITY : 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    auto& axis = axes[chosen[i]];
    if (outputs[i] == 0 || outputs[i] > max_tensor_byte_length)
      unsupported("a size of " + std::to_string(outputs[i]));
    axis.output = outputs[i];
    axis.scale = static_cast<double>(outputs[i]) / axis.input;
    common = policy == "not_larger" ? std::min(common, axis.scale) : std::max(common, axis.scale);
  }
  if (policy == "stretch") return axes;
  if (policy != "not_larger" && policy != "not_smaller")
    malformed("attribute 'keep_aspect_ratio_policy' is " + quote(policy));
  for (const auto d : chosen) {
    axes[d].scale = common;
    axes[d].output = to_shape({std::llround(common * axes[d].input)}).front();
    if (axes[d].output == 0) unsupported("a size of 0");
  }
  return axes;
}

template <class T>
using Name = std::pair<std::string_view, T>;

constexpr std::array<Name<Coordinates>, 7> coordinates_names{{
    {"asymmetric", Coordinates::asymmetric},
    {"align_corners", Coordinates::align_corners},
    {"half_pixel", Coordinates::half_pixel},
    {"pytorch_half_pixel", Coordinates::pytorch_half_pixel},
    {"half_pixel_symmetric", Coordinates::half_pixel_symmetric},
    {"tf_half_pixel_for_nn", Coordinates::tf_half_pixel_for_nn},
    {"tf_crop_and_resize", Coordinates::tf_crop_and_resize},
}};
constexpr std::array<Name<Rounding>, 4> rounding_names{{
    {"round_prefer_floor", Rounding::prefer_floor},
    {"round_prefer_ceil", Rounding::prefer_ceil},
    {"floor", Rounding::floor},
    {"ceil", Rounding::ceil},
}};
constexpr std::array<Name<Interpolation>, 4> mode_names{{
    {"nearest", Interpolation::nearest},
    {"linear", Interpolation::linear},
    {"bilinear", Interpolation::linear},
    {"cubic", Interpolation::cubic},
}};

/// An attribute whose value is a name of `known`.
template <class T, std::size_t size>
T named(const Node& node, const char* attribute, const char* otherwise,
        const std::array<Name<T>, size>& known) {
  const auto text = node.text(attribute, otherwise);
  for (const auto& [name, value] : known)
    if (name == text) return value;
  malformed("attribute " + quote(attribute) + " is " + quote(text));
}

Rules read_rules(const Node& node) {
  // Opset 10 and Upsample have only one map: asymmetric, rounded down.
  Rules rules{Coordinates::asymmetric, Rounding::floor, named(node, "mode", "nearest", mode_names)};
  if (node.opset >= 11) {
    rules.coordinates =
        named(node, "coordinate_transformation_mode", "half_pixel", coordinates_names);
    rules.nearest = named(node, "nearest_mode", "round_prefer_floor", rounding_names);
  }
  rules.cubic_a = node.real("cubic_coeff_a", -0.75);
  rules.exclude_outside = node.integer("exclude_outside", 0) != 0;
  rules.antialias = node.integer("antialias", 0) != 0;
  return rules;
}

std::vector<double> scales_of(const Node& node, std::size_t i) {
  const auto* known = node.literal(i);
  if (!known) unknown_value("the scales");
  if (count(*known) > max_rank) malformed("there are too many scales");
  return reals(*known);
}

/// Upsample up to opset 8 has its scales as attributes.
std::optional<std::vector<double>> attribute_scales(const Node& node) {
  if (node.has_attribute("scales")) return node.real_list("scales");
  if (!node.has_attribute("height_scale")) return std::nullopt;
  return std::vector<double>{1, 1, node.real("height_scale", 1), node.real("width_scale", 1)};
}

/// The region that tf_crop_and_resize takes: starts, then ends.
void take_region(const Node& node, const std::vector<std::uint32_t>& chosen,
                 std::vector<Axis>& axes) {
  if (!node.has_input(1)) malformed("the region is missing");
  const auto* known = node.literal(1);
  if (!known) unknown_value("the region");
  const auto region = reals(*known);
  if (region.size() != 2 * chosen.size())
    malformed("expected two entries of the region for each axis");
  // Entries are fractions of the axis; bounded, so that every computed position is valid.
  if (!std::ranges::all_of(region, [](double part) { return std::abs(part) <= 1e9; }))
    malformed("the region has entries out of range");
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    axes[chosen[i]].start = region[i];
    axes[chosen[i]].end = region[chosen.size() + i];
  }
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
    if (length == 0) unsupported("an empty input, which WebNN does not have");
  if (const auto given = attribute_scales(node))
    return resample(node, rules, scaled_axes(shape, chosen, *given));
  const std::size_t scales = node.opset >= 11 ? 2 : 1;
  const bool scaled = node.has_input(scales) && count(node.shape(scales)) != 0;
  if (!scaled && (node.opset < 11 || !node.has_input(3)))
    malformed("neither scales nor sizes are given");
  auto axes = scaled ? scaled_axes(shape, chosen, scales_of(node, scales))
                     : sized_axes(node, shape, chosen, node.integers(3));
  if (rules.coordinates == Coordinates::tf_crop_and_resize) take_region(node, chosen, axes);
  resample(node, rules, axes);
}

}  // namespace

std::span<const Row> resampling_rows() noexcept {
  static constexpr std::array rows{
      Row{"Resize", resize},
      Row{"Upsample", resize},
  };
  return rows;
}

}  // namespace polychron::onnx::detail
