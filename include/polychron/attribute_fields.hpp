// The fields of the attribute structs under the specification's names, and the enumerations'
// spellings. A binding walks over them to fill an operator's attributes by name, for
// GraphBuilder::apply(). The library's own validation, documents and codecs do the same.
#pragma once

#include <array>
#include <concepts>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "polychron/attributes.hpp"

namespace polychron {

/// The specification's spellings of enumeration E, in the order of its values.
template <class E>
inline constexpr std::array<std::string_view, 0> spellings{};
/// @cond its specializations
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
inline constexpr std::array<std::string_view, 2> spellings<GruWeightLayout>{"zrn", "rzn"};
template <>
inline constexpr std::array<std::string_view, 2> spellings<LstmWeightLayout>{"iofg", "ifgo"};
template <>
inline constexpr std::array<std::string_view, 3> spellings<RecurrentNetworkActivation>{
    "relu", "sigmoid", "tanh"};
template <>
inline constexpr std::array<std::string_view, 3> spellings<RecurrentNetworkDirection>{
    "forward", "backward", "both"};
template <>
inline constexpr std::array<std::string_view, 4> spellings<ScatterReduction>{"add", "multiply",
                                                                             "max", "min"};
template <>
inline constexpr auto spellings<DataType> = [] {
  std::array<std::string_view, all_data_types.size()> names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = to_string(all_data_types[i]);
  return names;
}();
/// @endcond

/// A member of attribute struct A and its name in the specification.
template <class A, class T>
struct Field {
  std::string_view name;  ///< in the specification
  T A::*member;           ///< in the struct
  bool required = false;  ///< an argument of the specification's method: it has no default
};
/// Deduces both.
template <class A, class T>
Field(std::string_view, T A::*, bool = false) -> Field<A, T>;  // clang 14 needs this guide

/// The fields of attribute struct A.
template <class A>
inline constexpr std::tuple<> attribute_fields{};
/// @cond its specializations
template <>
inline constexpr std::tuple attribute_fields<ArgMinMaxAttributes>{
    Field{"axis", &ArgMinMaxAttributes::axis, true},
    Field{"keepDimensions", &ArgMinMaxAttributes::keep_dimensions},
    Field{"outputDataType", &ArgMinMaxAttributes::output_data_type}};
template <>
inline constexpr std::tuple attribute_fields<BatchNormalizationAttributes>{
    Field{"axis", &BatchNormalizationAttributes::axis},
    Field{"epsilon", &BatchNormalizationAttributes::epsilon}};
template <>
inline constexpr std::tuple attribute_fields<CastAttributes>{
    Field{"dataType", &CastAttributes::data_type, true}};
template <>
inline constexpr std::tuple attribute_fields<ClampAttributes>{
    Field{"minValue", &ClampAttributes::min_value}, Field{"maxValue", &ClampAttributes::max_value}};
template <>
inline constexpr std::tuple attribute_fields<ConcatAttributes>{
    Field{"axis", &ConcatAttributes::axis, true}};
template <>
inline constexpr std::tuple attribute_fields<Conv2dAttributes>{
    Field{"padding", &Conv2dAttributes::padding},
    Field{"strides", &Conv2dAttributes::strides},
    Field{"dilations", &Conv2dAttributes::dilations},
    Field{"groups", &Conv2dAttributes::groups},
    Field{"inputLayout", &Conv2dAttributes::input_layout},
    Field{"filterLayout", &Conv2dAttributes::filter_layout}};
template <>
inline constexpr std::tuple attribute_fields<ConvTranspose2dAttributes>{
    Field{"padding", &ConvTranspose2dAttributes::padding},
    Field{"strides", &ConvTranspose2dAttributes::strides},
    Field{"dilations", &ConvTranspose2dAttributes::dilations},
    Field{"outputPadding", &ConvTranspose2dAttributes::output_padding},
    Field{"outputSizes", &ConvTranspose2dAttributes::output_sizes},
    Field{"groups", &ConvTranspose2dAttributes::groups},
    Field{"inputLayout", &ConvTranspose2dAttributes::input_layout},
    Field{"filterLayout", &ConvTranspose2dAttributes::filter_layout}};
template <>
inline constexpr std::tuple attribute_fields<CumulativeSumAttributes>{
    Field{"axis", &CumulativeSumAttributes::axis, true},
    Field{"exclusive", &CumulativeSumAttributes::exclusive},
    Field{"reversed", &CumulativeSumAttributes::reversed}};
template <>
inline constexpr std::tuple attribute_fields<EluAttributes>{Field{"alpha", &EluAttributes::alpha}};
template <>
inline constexpr std::tuple attribute_fields<ExpandAttributes>{
    Field{"newShape", &ExpandAttributes::new_shape, true}};
template <>
inline constexpr std::tuple attribute_fields<GatherAttributes>{
    Field{"axis", &GatherAttributes::axis}};
template <>
inline constexpr std::tuple attribute_fields<GemmAttributes>{
    Field{"alpha", &GemmAttributes::alpha}, Field{"beta", &GemmAttributes::beta},
    Field{"aTranspose", &GemmAttributes::a_transpose},
    Field{"bTranspose", &GemmAttributes::b_transpose}};
template <>
inline constexpr std::tuple attribute_fields<GruCellAttributes>{
    Field{"hiddenSize", &GruCellAttributes::hidden_size, true},
    Field{"resetAfter", &GruCellAttributes::reset_after},
    Field{"layout", &GruCellAttributes::layout},
    Field{"activations", &GruCellAttributes::activations}};
template <>
inline constexpr std::tuple attribute_fields<GruAttributes>{
    Field{"steps", &GruAttributes::steps, true},
    Field{"hiddenSize", &GruAttributes::hidden_size, true},
    Field{"resetAfter", &GruAttributes::reset_after},
    Field{"returnSequence", &GruAttributes::return_sequence},
    Field{"direction", &GruAttributes::direction},
    Field{"layout", &GruAttributes::layout},
    Field{"activations", &GruAttributes::activations}};
template <>
inline constexpr std::tuple attribute_fields<HardSigmoidAttributes>{
    Field{"alpha", &HardSigmoidAttributes::alpha}, Field{"beta", &HardSigmoidAttributes::beta}};
template <>
inline constexpr std::tuple attribute_fields<InstanceNormalizationAttributes>{
    Field{"epsilon", &InstanceNormalizationAttributes::epsilon},
    Field{"layout", &InstanceNormalizationAttributes::layout}};
template <>
inline constexpr std::tuple attribute_fields<LayerNormalizationAttributes>{
    Field{"axes", &LayerNormalizationAttributes::axes},
    Field{"epsilon", &LayerNormalizationAttributes::epsilon}};
template <>
inline constexpr std::tuple attribute_fields<LeakyReluAttributes>{
    Field{"alpha", &LeakyReluAttributes::alpha}};
template <>
inline constexpr std::tuple attribute_fields<LinearAttributes>{
    Field{"alpha", &LinearAttributes::alpha}, Field{"beta", &LinearAttributes::beta}};
template <>
inline constexpr std::tuple attribute_fields<LstmCellAttributes>{
    Field{"hiddenSize", &LstmCellAttributes::hidden_size, true},
    Field{"layout", &LstmCellAttributes::layout},
    Field{"activations", &LstmCellAttributes::activations}};
template <>
inline constexpr std::tuple attribute_fields<LstmAttributes>{
    Field{"steps", &LstmAttributes::steps, true},
    Field{"hiddenSize", &LstmAttributes::hidden_size, true},
    Field{"returnSequence", &LstmAttributes::return_sequence},
    Field{"direction", &LstmAttributes::direction},
    Field{"layout", &LstmAttributes::layout},
    Field{"activations", &LstmAttributes::activations}};
template <>
inline constexpr std::tuple attribute_fields<PadAttributes>{
    Field{"beginningPadding", &PadAttributes::beginning_padding, true},
    Field{"endingPadding", &PadAttributes::ending_padding, true},
    Field{"mode", &PadAttributes::mode}, Field{"value", &PadAttributes::value}};
template <>
inline constexpr std::tuple attribute_fields<Pool2dAttributes>{
    Field{"windowDimensions", &Pool2dAttributes::window_dimensions},
    Field{"padding", &Pool2dAttributes::padding},
    Field{"strides", &Pool2dAttributes::strides},
    Field{"dilations", &Pool2dAttributes::dilations},
    Field{"layout", &Pool2dAttributes::layout},
    Field{"outputShapeRounding", &Pool2dAttributes::output_shape_rounding},
    Field{"outputSizes", &Pool2dAttributes::output_sizes}};
template <>
inline constexpr std::tuple attribute_fields<ReduceAttributes>{
    Field{"axes", &ReduceAttributes::axes},
    Field{"keepDimensions", &ReduceAttributes::keep_dimensions}};
template <>
inline constexpr std::tuple attribute_fields<Resample2dAttributes>{
    Field{"mode", &Resample2dAttributes::mode}, Field{"scales", &Resample2dAttributes::scales},
    Field{"sizes", &Resample2dAttributes::sizes}, Field{"axes", &Resample2dAttributes::axes}};
template <>
inline constexpr std::tuple attribute_fields<ReshapeAttributes>{
    Field{"newShape", &ReshapeAttributes::new_shape, true}};
template <>
inline constexpr std::tuple attribute_fields<ReverseAttributes>{
    Field{"axes", &ReverseAttributes::axes}};
template <>
inline constexpr std::tuple attribute_fields<ScatterAttributes>{
    Field{"axis", &ScatterAttributes::axis}};
template <>
inline constexpr std::tuple attribute_fields<ScatterReduceAttributes>{
    Field{"reduction", &ScatterReduceAttributes::reduction}};
template <>
inline constexpr std::tuple attribute_fields<SliceAttributes>{
    Field{"starts", &SliceAttributes::starts, true}, Field{"sizes", &SliceAttributes::sizes, true},
    Field{"strides", &SliceAttributes::strides}};
template <>
inline constexpr std::tuple attribute_fields<SoftmaxAttributes>{
    Field{"axis", &SoftmaxAttributes::axis, true}};
template <>
inline constexpr std::tuple attribute_fields<SplitAttributes>{
    Field{"splits", &SplitAttributes::splits, true}, Field{"axis", &SplitAttributes::axis}};
template <>
inline constexpr std::tuple attribute_fields<TileAttributes>{
    Field{"repetitions", &TileAttributes::repetitions, true}};
template <>
inline constexpr std::tuple attribute_fields<TopKAttributes>{
    Field{"k", &TopKAttributes::k, true}, Field{"axis", &TopKAttributes::axis, true},
    Field{"largest", &TopKAttributes::largest}};
template <>
inline constexpr std::tuple attribute_fields<TransposeAttributes>{
    Field{"permutation", &TransposeAttributes::permutation}};
template <>
inline constexpr std::tuple attribute_fields<TriangularAttributes>{
    Field{"upper", &TriangularAttributes::upper},
    Field{"diagonal", &TriangularAttributes::diagonal}};
/// @endcond

/// Calls `visit(name, value)` for each field of `attributes`, const or not.
template <class A, class V>
void for_each_field(A& attributes, V&& visit) {
  std::apply([&](const auto&... field) { (visit(field.name, attributes.*field.member), ...); },
             attribute_fields<std::remove_const_t<A>>);
}

/// Alternative number `index` of Attributes, with the specification's defaults.
template <std::size_t I = 0>
Attributes default_attributes(std::size_t index) {
  if constexpr (I + 1 < std::variant_size_v<Attributes>)
    if (I != index) return default_attributes<I + 1>(index);
  return std::variant_alternative_t<I, Attributes>{};
}

/// The attributes of the operator that the specification calls `operation`, with its defaults;
/// std::monostate if it has none, or if there is no such operator, which GraphBuilder::apply()
/// refuses. Any thread may call it.
[[nodiscard]] Attributes default_attributes(std::string_view operation);

/// True if field `name` of attribute struct A has no default.
template <class A>
constexpr bool is_required(std::string_view name) {
  return std::apply(
      [&](const auto&... field) { return (... || (field.required && field.name == name)); },
      attribute_fields<A>);
}

/// The first field without a default, or "".
inline std::string_view required_field(const Attributes& attributes) {
  return std::visit(
      []<class A>(const A&) {
        std::string_view first;
        std::apply(
            [&](const auto&... field) {
              ((first = first.empty() && field.required ? field.name : first), ...);
            },
            attribute_fields<A>);
        return first;
      },
      attributes);
}

}  // namespace polychron
