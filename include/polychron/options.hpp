// Attributes and options of the operators (WebNN's MLxxxOptions dictionaries).
//
// Two layers, so that nothing is said twice: FooAttributes are the plain values of an operator; the
// graph description, shape rules and kernels see these. FooOptions, what a caller fills in, adds
// the optional operands and the label. Field names and defaults are the specification's, in
// snake_case.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "polychron/data_type.hpp"
#include "polychron/operand.hpp"

namespace polychron {

enum class InputOperandLayout : std::uint8_t { nchw, nhwc };
enum class Conv2dFilterOperandLayout : std::uint8_t { oihw, hwio, ohwi, ihwo };
enum class ConvTranspose2dFilterOperandLayout : std::uint8_t { iohw, hwoi, ohwi };
enum class RoundingType : std::uint8_t { floor, ceil };
enum class InterpolationMode : std::uint8_t { nearest_neighbor, linear };
enum class PaddingMode : std::uint8_t { constant, edge, reflection };
enum class GruWeightLayout : std::uint8_t { zrn, rzn };
enum class LstmWeightLayout : std::uint8_t { iofg, ifgo };
enum class RecurrentNetworkActivation : std::uint8_t { relu, sigmoid, tanh };
enum class RecurrentNetworkDirection : std::uint8_t { forward, backward, both };

/// WebNN's MLNumber: a number of any type, exact for 64-bit integers.
using Number = std::variant<double, std::int64_t, std::uint64_t>;

// -- attributes: what an operator is, besides its operands
// --------------------------------------------

struct ArgMinMaxAttributes {
  std::uint32_t axis = 0;
  bool keep_dimensions = false;
  DataType output_data_type = DataType::int32;  ///< or int64
};
struct BatchNormalizationAttributes {
  std::uint32_t axis = 1;
  double epsilon = 1e-5;
};
struct CastAttributes {
  DataType data_type = DataType::float32;
};
struct ClampAttributes {
  std::optional<Number> min_value;  ///< absent: unbounded below
  std::optional<Number> max_value;  ///< absent: unbounded above
};
struct ConcatAttributes {
  std::uint32_t axis = 0;
};
struct Conv2dAttributes {
  std::vector<std::uint32_t> padding{0, 0, 0, 0};  ///< beginning and end of height, then of width
  std::vector<std::uint32_t> strides{1, 1};
  std::vector<std::uint32_t> dilations{1, 1};
  std::uint32_t groups = 1;
  InputOperandLayout input_layout = InputOperandLayout::nchw;
  Conv2dFilterOperandLayout filter_layout = Conv2dFilterOperandLayout::oihw;
};
struct ConvTranspose2dAttributes {
  std::vector<std::uint32_t> padding{0, 0, 0, 0};
  std::vector<std::uint32_t> strides{1, 1};
  std::vector<std::uint32_t> dilations{1, 1};
  std::vector<std::uint32_t> output_padding{0, 0};
  std::vector<std::uint32_t> output_sizes;  ///< empty: calculated
  std::uint32_t groups = 1;
  InputOperandLayout input_layout = InputOperandLayout::nchw;
  ConvTranspose2dFilterOperandLayout filter_layout = ConvTranspose2dFilterOperandLayout::iohw;
};
struct CumulativeSumAttributes {
  std::uint32_t axis = 0;
  bool exclusive = false;  ///< sums are of what comes before an element, not with it
  bool reversed = false;   ///< from the end to the beginning
};
struct EluAttributes {
  double alpha = 1;
};
struct ExpandAttributes {
  Shape new_shape;
};
struct GatherAttributes {
  std::uint32_t axis = 0;
};
struct GemmAttributes {
  double alpha = 1;
  double beta = 1;
  bool a_transpose = false;
  bool b_transpose = false;
};
/// Activations: of the update and reset gates, and of the new one.
struct GruCellChoices {
  bool reset_after = true;
  GruWeightLayout layout = GruWeightLayout::zrn;
  std::optional<std::vector<RecurrentNetworkActivation>> activations;  ///< absent: sigmoid, tanh
};
struct GruCellAttributes : GruCellChoices {
  std::uint32_t hidden_size = 0;
};
struct GruChoices : GruCellChoices {
  bool return_sequence = false;
  RecurrentNetworkDirection direction = RecurrentNetworkDirection::forward;
};
struct GruAttributes : GruChoices {
  std::uint32_t steps = 0;
  std::uint32_t hidden_size = 0;
};
struct HardSigmoidAttributes {
  double alpha = 0.2;
  double beta = 0.5;
};
struct InstanceNormalizationAttributes {
  double epsilon = 1e-5;
  InputOperandLayout layout = InputOperandLayout::nchw;
};
struct LayerNormalizationAttributes {
  std::optional<std::vector<std::uint32_t>> axes;  ///< absent: all but the first
  double epsilon = 1e-5;
};
struct LeakyReluAttributes {
  double alpha = 0.01;
};
struct LinearAttributes {
  double alpha = 1;
  double beta = 0;
};
/// Activations: of the input, forget and output gates, of the cell gate, and of the cell state.
struct LstmCellChoices {
  LstmWeightLayout layout = LstmWeightLayout::iofg;
  /// Absent: sigmoid, tanh, tanh.
  std::optional<std::vector<RecurrentNetworkActivation>> activations;
};
struct LstmCellAttributes : LstmCellChoices {
  std::uint32_t hidden_size = 0;
};
struct LstmChoices : LstmCellChoices {
  bool return_sequence = false;
  RecurrentNetworkDirection direction = RecurrentNetworkDirection::forward;
};
struct LstmAttributes : LstmChoices {
  std::uint32_t steps = 0;
  std::uint32_t hidden_size = 0;
};
struct PadAttributes {
  std::vector<std::uint32_t> beginning_padding;
  std::vector<std::uint32_t> ending_padding;
  PaddingMode mode = PaddingMode::constant;
  Number value = 0.0;
};
struct Pool2dAttributes {
  std::optional<std::vector<std::uint32_t>> window_dimensions;  ///< absent: the whole input
  std::vector<std::uint32_t> padding{0, 0, 0, 0};
  std::vector<std::uint32_t> strides{1, 1};
  std::vector<std::uint32_t> dilations{1, 1};
  InputOperandLayout layout = InputOperandLayout::nchw;
  RoundingType output_shape_rounding = RoundingType::floor;
  std::optional<std::vector<std::uint32_t>> output_sizes;  ///< wins over the rounding
};
struct ReduceAttributes {
  std::optional<std::vector<std::uint32_t>> axes;  ///< absent: all
  bool keep_dimensions = false;
};
struct Resample2dAttributes {
  InterpolationMode mode = InterpolationMode::nearest_neighbor;
  std::vector<float> scales{1, 1};
  std::optional<std::vector<std::uint32_t>> sizes;  ///< wins over the scales
  std::vector<std::uint32_t> axes{2, 3};
};
struct ReshapeAttributes {
  Shape new_shape;
};
struct ReverseAttributes {
  std::optional<std::vector<std::uint32_t>> axes;  ///< absent: all; empty: none
};
struct ScatterAttributes {
  std::uint32_t axis = 0;
};
struct SliceAttributes {
  std::vector<std::uint32_t> starts;
  std::vector<std::uint32_t> sizes;
  std::optional<std::vector<std::uint32_t>> strides;  ///< absent: ones
};
struct SoftmaxAttributes {
  std::uint32_t axis = 0;
};
struct SplitAttributes {
  /// One entry: that many equal parts, if `equal_parts`; else the size of each part.
  std::vector<std::uint32_t> splits;
  bool equal_parts = false;
  std::uint32_t axis = 0;
};
struct TileAttributes {
  std::vector<std::uint32_t> repetitions;  ///< of each dimension
};
struct TransposeAttributes {
  std::optional<std::vector<std::uint32_t>> permutation;  ///< absent: dimensions reversed
};
struct TriangularAttributes {
  bool upper = true;
  std::int32_t diagonal =
      0;  ///< the outermost that is kept: above the main one, or below it if < 0
};

/// The attributes of any operator; monostate for those that have none.
using Attributes =
    std::variant<std::monostate, ArgMinMaxAttributes, BatchNormalizationAttributes, CastAttributes,
                 ClampAttributes, ConcatAttributes, Conv2dAttributes, ConvTranspose2dAttributes,
                 CumulativeSumAttributes, EluAttributes, ExpandAttributes, GatherAttributes,
                 GemmAttributes, GruAttributes, GruCellAttributes, HardSigmoidAttributes,
                 InstanceNormalizationAttributes, LayerNormalizationAttributes, LeakyReluAttributes,
                 LinearAttributes, LstmAttributes, LstmCellAttributes, PadAttributes,
                 Pool2dAttributes, ReduceAttributes, Resample2dAttributes, ReshapeAttributes,
                 ReverseAttributes, ScatterAttributes, SliceAttributes, SoftmaxAttributes,
                 SplitAttributes, TileAttributes, TransposeAttributes, TriangularAttributes>;

// -- options: what a caller fills in
// -------------------------------------------------------------------

/// WebNN's MLOperatorOptions: the label appears in every message about the operator.
struct OperatorOptions {
  std::string label;
};

/// Options of an operator without optional operands: its attributes and a label.
template <class A>
struct OptionsOf : A {
  std::string label;
};

using ClampOptions = OptionsOf<ClampAttributes>;
using EluOptions = OptionsOf<EluAttributes>;
using GatherOptions = OptionsOf<GatherAttributes>;
using HardSigmoidOptions = OptionsOf<HardSigmoidAttributes>;
using LeakyReluOptions = OptionsOf<LeakyReluAttributes>;
using LinearOptions = OptionsOf<LinearAttributes>;
using Pool2dOptions = OptionsOf<Pool2dAttributes>;
using ReduceOptions = OptionsOf<ReduceAttributes>;
using Resample2dOptions = OptionsOf<Resample2dAttributes>;
using ReverseOptions = OptionsOf<ReverseAttributes>;
using ScatterOptions = OptionsOf<ScatterAttributes>;
using TransposeOptions = OptionsOf<TransposeAttributes>;
using TriangularOptions = OptionsOf<TriangularAttributes>;

struct ArgMinMaxOptions {
  bool keep_dimensions = false;
  DataType output_data_type = DataType::int32;
  std::string label;
};
struct CumulativeSumOptions {
  bool exclusive = false;
  bool reversed = false;
  std::string label;
};

struct BatchNormalizationOptions : OptionsOf<BatchNormalizationAttributes> {
  std::optional<Operand> scale, bias;
};
struct Conv2dOptions : OptionsOf<Conv2dAttributes> {
  std::optional<Operand> bias;
};
struct ConvTranspose2dOptions : OptionsOf<ConvTranspose2dAttributes> {
  std::optional<Operand> bias;
};
struct GemmOptions : OptionsOf<GemmAttributes> {
  std::optional<Operand> c;
};
struct GruOptions : OptionsOf<GruChoices> {
  std::optional<Operand> bias, recurrent_bias, initial_hidden_state;
};
struct GruCellOptions : OptionsOf<GruCellChoices> {
  std::optional<Operand> bias, recurrent_bias;
};
struct LstmOptions : OptionsOf<LstmChoices> {
  std::optional<Operand> bias, recurrent_bias, peephole_weight;
  std::optional<Operand> initial_hidden_state, initial_cell_state;
};
struct LstmCellOptions : OptionsOf<LstmCellChoices> {
  std::optional<Operand> bias, recurrent_bias, peephole_weight;
};
struct InstanceNormalizationOptions : OptionsOf<InstanceNormalizationAttributes> {
  std::optional<Operand> scale, bias;
};
struct LayerNormalizationOptions : OptionsOf<LayerNormalizationAttributes> {
  std::optional<Operand> scale, bias;
};
struct PadOptions {
  PaddingMode mode = PaddingMode::constant;
  Number value = 0.0;
  std::string label;
};
struct SliceOptions {
  std::optional<std::vector<std::uint32_t>> strides;
  std::string label;
};
struct SplitOptions {
  std::uint32_t axis = 0;
  std::string label;
};

}  // namespace polychron
