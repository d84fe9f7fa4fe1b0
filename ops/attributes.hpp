// The fields of the attribute structs under the specification's names, and the enumerations'
// spellings: what validation, documentation and the conformance tests walk.
#pragma once

#include <array>
#include <concepts>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "polychron/options.hpp"

namespace polychron::ops {

/// The specification's spellings of enumeration E, in the order of its values.
template <class E>
inline constexpr std::array<std::string_view, 0> spellings{};
template <>
inline constexpr std::array<std::string_view, 2> spellings<InputOperandLayout>{"nchw", "nhwc"};
template <>
inline constexpr std::array<std::string_view, 4> spellings<Conv2dFilterOperandLayout>{
    "oihw", "hwio", "ohwi", "ihwo"};
template <>
inline constexpr std::array<std::string_view, 3> spellings<ConvTranspose2dFilterOperandLayout>{
    "iohw", "hwoi", "ohwi"};
template <>
inline constexpr std::array<std::string_view, 2> spellings<RoundingType>{"floor", "ceil"};
template <>
inline constexpr std::array<std::string_view, 2> spellings<InterpolationMode>{"nearest-neighbor",
                                                                              "linear"};
template <>
inline constexpr std::array<std::string_view, 3> spellings<PaddingMode>{"constant", "edge",
                                                                        "reflection"};
template <>
inline constexpr auto spellings<DataType> = [] {
  std::array<std::string_view, all_data_types.size()> names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = to_string(all_data_types[i]);
  return names;
}();

/// A member of attribute struct A and what the specification calls it.
template <class A, class T>
struct Field {
  std::string_view name;
  T A::*member;
};

/// The fields of attribute struct A.
template <class A>
inline constexpr std::tuple<> fields{};
template <>
inline constexpr std::tuple fields<ArgMinMaxAttributes>{
    Field{"axis", &ArgMinMaxAttributes::axis},
    Field{"keepDimensions", &ArgMinMaxAttributes::keep_dimensions},
    Field{"outputDataType", &ArgMinMaxAttributes::output_data_type}};
template <>
inline constexpr std::tuple fields<BatchNormalizationAttributes>{
    Field{"axis", &BatchNormalizationAttributes::axis},
    Field{"epsilon", &BatchNormalizationAttributes::epsilon}};
template <>
inline constexpr std::tuple fields<CastAttributes>{Field{"dataType", &CastAttributes::data_type}};
template <>
inline constexpr std::tuple fields<ClampAttributes>{Field{"minValue", &ClampAttributes::min_value},
                                                    Field{"maxValue", &ClampAttributes::max_value}};
template <>
inline constexpr std::tuple fields<ConcatAttributes>{Field{"axis", &ConcatAttributes::axis}};
template <>
inline constexpr std::tuple fields<Conv2dAttributes>{
    Field{"padding", &Conv2dAttributes::padding},
    Field{"strides", &Conv2dAttributes::strides},
    Field{"dilations", &Conv2dAttributes::dilations},
    Field{"groups", &Conv2dAttributes::groups},
    Field{"inputLayout", &Conv2dAttributes::input_layout},
    Field{"filterLayout", &Conv2dAttributes::filter_layout}};
template <>
inline constexpr std::tuple fields<ConvTranspose2dAttributes>{
    Field{"padding", &ConvTranspose2dAttributes::padding},
    Field{"strides", &ConvTranspose2dAttributes::strides},
    Field{"dilations", &ConvTranspose2dAttributes::dilations},
    Field{"outputPadding", &ConvTranspose2dAttributes::output_padding},
    Field{"outputSizes", &ConvTranspose2dAttributes::output_sizes},
    Field{"groups", &ConvTranspose2dAttributes::groups},
    Field{"inputLayout", &ConvTranspose2dAttributes::input_layout},
    Field{"filterLayout", &ConvTranspose2dAttributes::filter_layout}};
template <>
inline constexpr std::tuple fields<EluAttributes>{Field{"alpha", &EluAttributes::alpha}};
template <>
inline constexpr std::tuple fields<ExpandAttributes>{
    Field{"newShape", &ExpandAttributes::new_shape}};
template <>
inline constexpr std::tuple fields<GatherAttributes>{Field{"axis", &GatherAttributes::axis}};
template <>
inline constexpr std::tuple fields<GemmAttributes>{
    Field{"alpha", &GemmAttributes::alpha}, Field{"beta", &GemmAttributes::beta},
    Field{"aTranspose", &GemmAttributes::a_transpose},
    Field{"bTranspose", &GemmAttributes::b_transpose}};
template <>
inline constexpr std::tuple fields<HardSigmoidAttributes>{
    Field{"alpha", &HardSigmoidAttributes::alpha}, Field{"beta", &HardSigmoidAttributes::beta}};
template <>
inline constexpr std::tuple fields<InstanceNormalizationAttributes>{
    Field{"epsilon", &InstanceNormalizationAttributes::epsilon},
    Field{"layout", &InstanceNormalizationAttributes::layout}};
template <>
inline constexpr std::tuple fields<LayerNormalizationAttributes>{
    Field{"axes", &LayerNormalizationAttributes::axes},
    Field{"epsilon", &LayerNormalizationAttributes::epsilon}};
template <>
inline constexpr std::tuple fields<LeakyReluAttributes>{
    Field{"alpha", &LeakyReluAttributes::alpha}};
template <>
inline constexpr std::tuple fields<LinearAttributes>{Field{"alpha", &LinearAttributes::alpha},
                                                     Field{"beta", &LinearAttributes::beta}};
template <>
inline constexpr std::tuple fields<PadAttributes>{
    Field{"beginningPadding", &PadAttributes::beginning_padding},
    Field{"endingPadding", &PadAttributes::ending_padding}, Field{"mode", &PadAttributes::mode},
    Field{"value", &PadAttributes::value}};
template <>
inline constexpr std::tuple fields<Pool2dAttributes>{
    Field{"windowDimensions", &Pool2dAttributes::window_dimensions},
    Field{"padding", &Pool2dAttributes::padding},
    Field{"strides", &Pool2dAttributes::strides},
    Field{"dilations", &Pool2dAttributes::dilations},
    Field{"layout", &Pool2dAttributes::layout},
    Field{"outputShapeRounding", &Pool2dAttributes::output_shape_rounding},
    Field{"outputSizes", &Pool2dAttributes::output_sizes}};
template <>
inline constexpr std::tuple fields<ReduceAttributes>{
    Field{"axes", &ReduceAttributes::axes},
    Field{"keepDimensions", &ReduceAttributes::keep_dimensions}};
template <>
inline constexpr std::tuple fields<Resample2dAttributes>{
    Field{"mode", &Resample2dAttributes::mode}, Field{"scales", &Resample2dAttributes::scales},
    Field{"sizes", &Resample2dAttributes::sizes}, Field{"axes", &Resample2dAttributes::axes}};
template <>
inline constexpr std::tuple fields<ReshapeAttributes>{
    Field{"newShape", &ReshapeAttributes::new_shape}};
template <>
inline constexpr std::tuple fields<SliceAttributes>{Field{"starts", &SliceAttributes::starts},
                                                    Field{"sizes", &SliceAttributes::sizes},
                                                    Field{"strides", &SliceAttributes::strides}};
template <>
inline constexpr std::tuple fields<SoftmaxAttributes>{Field{"axis", &SoftmaxAttributes::axis}};
template <>
inline constexpr std::tuple fields<SplitAttributes>{Field{"splits", &SplitAttributes::splits},
                                                    Field{"axis", &SplitAttributes::axis}};
template <>
inline constexpr std::tuple fields<TransposeAttributes>{
    Field{"permutation", &TransposeAttributes::permutation}};
template <>
inline constexpr std::tuple fields<TriangularAttributes>{
    Field{"upper", &TriangularAttributes::upper},
    Field{"diagonal", &TriangularAttributes::diagonal}};

/// Calls `visit(name, value)` for each field of `attributes`, const or not.
template <class A, class V>
void for_each_field(A& attributes, V&& visit) {
  std::apply([&](const auto&... field) { (visit(field.name, attributes.*field.member), ...); },
             fields<std::remove_const_t<A>>);
}

}  // namespace polychron::ops
