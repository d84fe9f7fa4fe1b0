// Attributes of the operators: the values that describe an operator besides its operands. Callers
// name those that they give: `builder.conv2d(x, filter, {.strides = {2, 2}})`. Field names, their
// order and defaults are the specification's, in snake_case: first the arguments of its method,
// then the members of its dictionary.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "polychron/data_type.hpp"
#include "polychron/descriptor.hpp"

namespace polychron {

/// WebNN's MLInputOperandLayout: the order of a picture's dimensions.
/// https://www.w3.org/TR/webnn/#enumdef-mlinputoperandlayout
enum class InputOperandLayout : std::uint8_t {
  nchw,  ///< batch, channels, height, width
  nhwc   ///< batch, height, width, channels
};
/// WebNN's MLConv2dFilterOperandLayout: the order of a filter's dimensions.
/// https://www.w3.org/TR/webnn/#enumdef-mlconv2dfilteroperandlayout
enum class Conv2dFilterOperandLayout : std::uint8_t {
  oihw,  ///< output channels, input channels of a group, height, width
  hwio,  ///< height, width, input channels of a group, output channels
  ohwi,  ///< output channels, height, width, input channels of a group
  ihwo   ///< input channels of a group, height, width, output channels
};
/// WebNN's MLConvTranspose2dFilterOperandLayout: the order of a filter's dimensions.
/// https://www.w3.org/TR/webnn/#enumdef-mlconvtranspose2dfilteroperandlayout
enum class ConvTranspose2dFilterOperandLayout : std::uint8_t {
  iohw,  ///< input channels, output channels of a group, height, width
  hwoi,  ///< height, width, output channels of a group, input channels
  ohwi   ///< output channels of a group, height, width, input channels
};
/// WebNN's MLRoundingType: how pooling rounds the height and width of its result.
/// https://www.w3.org/TR/webnn/#enumdef-mlroundingtype
enum class RoundingType : std::uint8_t {
  floor,  ///< down: every window lies within the padded input
  ceil    ///< up: the last window may extend past the padded input
};
/// WebNN's MLInterpolationMode. https://www.w3.org/TR/webnn/#enumdef-mlinterpolationmode
enum class InterpolationMode : std::uint8_t {
  nearest_neighbor,  ///< the element with the nearest center; on a tie the first
  linear             ///< interpolates between the centers of two neighbors along each axis
};
/// WebNN's MLPaddingMode. https://www.w3.org/TR/webnn/#enumdef-mlpaddingmode
enum class PaddingMode : std::uint8_t {
  constant,   ///< PadAttributes::value
  edge,       ///< repeats the nearest element of the input
  reflection  ///< mirrors the input at its edge, without repeating the edge itself
};
/// WebNN's MLGruWeightLayout: the order of the gates in weights and biases.
/// https://www.w3.org/TR/webnn/#enumdef-mlgruweightlayout
enum class GruWeightLayout : std::uint8_t {
  zrn,  ///< update, reset, new
  rzn   ///< reset, update, new
};
/// WebNN's MLLstmWeightLayout: the order of the gates in weights and biases.
/// https://www.w3.org/TR/webnn/#enumdef-mllstmweightlayout
enum class LstmWeightLayout : std::uint8_t {
  iofg,  ///< input, output, forget, cell
  ifgo   ///< input, forget, cell, output
};
/// WebNN's MLRecurrentNetworkActivation.
/// https://www.w3.org/TR/webnn/#enumdef-mlrecurrentnetworkactivation
enum class RecurrentNetworkActivation : std::uint8_t {
  relu,     ///< as GraphBuilder::relu()
  sigmoid,  ///< as GraphBuilder::sigmoid()
  tanh      ///< as GraphBuilder::tanh()
};
/// WebNN's MLRecurrentNetworkDirection.
/// https://www.w3.org/TR/webnn/#enumdef-mlrecurrentnetworkdirection
enum class RecurrentNetworkDirection : std::uint8_t {
  forward,   ///< from the first step to the last
  backward,  ///< from the last step to the first
  both       ///< two networks: weights, biases and states have 2 directions
};

/// WebNN's MLNumber: a number of any type, exact for 64-bit integers.
/// https://www.w3.org/TR/webnn/#typedefdef-mlnumber
using Number = std::variant<double, std::int64_t, std::uint64_t>;

/// Attributes of GraphBuilder::arg_min() and GraphBuilder::arg_max().
struct ArgMinMaxAttributes {
  std::uint32_t axis = 0;                       ///< less than the input's rank
  bool keep_dimensions = false;                 ///< the axis stays, with size 1
  DataType output_data_type = DataType::int32;  ///< or int64
};
/// Attributes of GraphBuilder::batch_normalization().
struct BatchNormalizationAttributes {
  std::uint32_t axis = 1;  ///< of the channels; less than the input's rank
  double epsilon = 1e-5;   ///< added to the variance
};
/// Attributes of GraphBuilder::cast().
struct CastAttributes {
  DataType data_type = DataType::float32;  ///< of the result
};
/// Attributes of GraphBuilder::clamp(). A minimum above the maximum is a type_error.
struct ClampAttributes {
  std::optional<Number> min_value{};  ///< absent: unbounded below
  std::optional<Number> max_value{};  ///< absent: unbounded above
};
/// Attributes of GraphBuilder::concat().
struct ConcatAttributes {
  std::uint32_t axis = 0;  ///< less than the inputs' rank
};
/// Attributes of GraphBuilder::conv2d().
struct Conv2dAttributes {
  std::vector<std::uint32_t> padding{0, 0, 0, 0};  ///< beginning and end of height, then of width
  std::vector<std::uint32_t> strides{1, 1};        ///< of height and width, above 0
  /// Dilations of height and width, above 0; 1 means no dilation.
  std::vector<std::uint32_t> dilations{1, 1};
  std::uint32_t groups = 1;  ///< divides the channels of the input and those of the output
  InputOperandLayout input_layout = InputOperandLayout::nchw;  ///< of input and result
  Conv2dFilterOperandLayout filter_layout = Conv2dFilterOperandLayout::oihw;  ///< of the filter
};
/// Attributes of GraphBuilder::conv_transpose2d().
struct ConvTranspose2dAttributes {
  /// Padding as in Conv2dAttributes; removed from the result.
  std::vector<std::uint32_t> padding{0, 0, 0, 0};
  std::vector<std::uint32_t> strides{1, 1};  ///< of height and width, above 0
  /// Dilations of height and width, above 0; 1 means no dilation.
  std::vector<std::uint32_t> dilations{1, 1};
  std::vector<std::uint32_t> output_padding{0, 0};  ///< at the end; each less than its stride
  std::vector<std::uint32_t> output_sizes{};        ///< replaces output_padding; empty: computed
  /// Above 0; the result has groups * (the filter's output channels) channels.
  std::uint32_t groups = 1;
  InputOperandLayout input_layout = InputOperandLayout::nchw;  ///< of input and result
  /// Layout of the filter.
  ConvTranspose2dFilterOperandLayout filter_layout = ConvTranspose2dFilterOperandLayout::iohw;
};
/// Attributes of GraphBuilder::cumulative_sum().
struct CumulativeSumAttributes {
  std::uint32_t axis = 0;  ///< less than the input's rank
  bool exclusive = false;  ///< each sum excludes its own element
  bool reversed = false;   ///< from the end to the beginning
};
/// Attributes of GraphBuilder::elu().
struct EluAttributes {
  double alpha = 1;  ///< factor below 0
};
/// Attributes of GraphBuilder::expand().
struct ExpandAttributes {
  Shape new_shape{};  ///< the input's shape must broadcast to this shape
};
/// Attributes of GraphBuilder::gather() and GraphBuilder::gather_elements().
struct GatherAttributes {
  std::uint32_t axis = 0;  ///< less than the input's rank
};
/// Attributes of GraphBuilder::gemm().
struct GemmAttributes {
  double alpha = 1;          ///< factor of the product
  double beta = 1;           ///< factor of c
  bool a_transpose = false;  ///< transpose a first
  bool b_transpose = false;  ///< transpose b first
};
/// Attributes of GraphBuilder::gru_cell().
struct GruCellAttributes {
  std::uint32_t hidden_size = 0;  ///< number of elements of a state, above 0
  /// Apply the reset gate to the product with the state, not to the state.
  bool reset_after = true;
  GruWeightLayout layout = GruWeightLayout::zrn;  ///< of weights and biases
  /// Two: of the update and reset gates, and of the new gate. Absent: sigmoid, tanh.
  std::optional<std::vector<RecurrentNetworkActivation>> activations{};
};
/// Attributes of GraphBuilder::gru().
struct GruAttributes {
  std::uint32_t steps = 0;        ///< the input's first dimension, above 0
  std::uint32_t hidden_size = 0;  ///< number of elements of a state, above 0
  bool reset_after = true;        ///< as in GruCellAttributes
  bool return_sequence = false;   ///< also return the hidden states of all steps
  /// The order in which the steps run.
  RecurrentNetworkDirection direction = RecurrentNetworkDirection::forward;
  GruWeightLayout layout = GruWeightLayout::zrn;  ///< of weights and biases
  /// As in GruCellAttributes.
  std::optional<std::vector<RecurrentNetworkActivation>> activations{};
};
/// Attributes of GraphBuilder::hard_sigmoid().
struct HardSigmoidAttributes {
  double alpha = 0.2;  ///< factor
  double beta = 0.5;   ///< summand
};
/// Attributes of GraphBuilder::instance_normalization().
struct InstanceNormalizationAttributes {
  double epsilon = 1e-5;                                 ///< added to the variance
  InputOperandLayout layout = InputOperandLayout::nchw;  ///< of input and result
};
/// Attributes of GraphBuilder::layer_normalization().
struct LayerNormalizationAttributes {
  std::optional<std::vector<std::uint32_t>> axes{};  ///< absent: all but the first
  double epsilon = 1e-5;                             ///< added to the variance
};
/// Attributes of GraphBuilder::leaky_relu().
struct LeakyReluAttributes {
  double alpha = 0.01;  ///< factor below 0
};
/// Attributes of GraphBuilder::linear().
struct LinearAttributes {
  double alpha = 1;  ///< factor
  double beta = 0;   ///< summand
};
/// Attributes of GraphBuilder::lstm_cell().
struct LstmCellAttributes {
  std::uint32_t hidden_size = 0;                     ///< number of elements of a state, above 0
  LstmWeightLayout layout = LstmWeightLayout::iofg;  ///< of weights and biases
  /// Three: of the input, forget and output gates, of the cell gate, and of the cell state. Absent:
  /// sigmoid, tanh, tanh.
  std::optional<std::vector<RecurrentNetworkActivation>> activations{};
};
/// Attributes of GraphBuilder::lstm().
struct LstmAttributes {
  std::uint32_t steps = 0;        ///< the input's first dimension, above 0
  std::uint32_t hidden_size = 0;  ///< number of elements of a state, above 0
  bool return_sequence = false;   ///< also return the hidden states of all steps
  /// The order in which the steps run.
  RecurrentNetworkDirection direction = RecurrentNetworkDirection::forward;
  LstmWeightLayout layout = LstmWeightLayout::iofg;  ///< of weights and biases
  /// As in LstmCellAttributes.
  std::optional<std::vector<RecurrentNetworkActivation>> activations{};
};
/// Attributes of GraphBuilder::pad().
struct PadAttributes {
  std::vector<std::uint32_t> beginning_padding{};  ///< elements added before each dimension
  std::vector<std::uint32_t> ending_padding{};     ///< elements added after each dimension
  /// reflection: each padding is less than its dimension.
  PaddingMode mode = PaddingMode::constant;
  Number value = 0.0;  ///< for PaddingMode::constant
};
/// Attributes of GraphBuilder::average_pool2d(), GraphBuilder::l2_pool2d() and
/// GraphBuilder::max_pool2d().
struct Pool2dAttributes {
  std::optional<std::vector<std::uint32_t>> window_dimensions{};  ///< absent: the whole input
  std::vector<std::uint32_t> padding{0, 0, 0, 0};                 ///< as in Conv2dAttributes
  std::vector<std::uint32_t> strides{1, 1};                       ///< of height and width, above 0
  /// Dilations of height and width, above 0; 1 means no dilation.
  std::vector<std::uint32_t> dilations{1, 1};
  InputOperandLayout layout = InputOperandLayout::nchw;      ///< of input and result
  RoundingType output_shape_rounding = RoundingType::floor;  ///< of the result's height and width
  /// Height and width of the result, each rounded down or up; replaces output_shape_rounding.
  std::optional<std::vector<std::uint32_t>> output_sizes{};
};
/// Attributes of the reductions: GraphBuilder::reduce_sum() and the other reduce_ methods.
struct ReduceAttributes {
  std::optional<std::vector<std::uint32_t>> axes{};  ///< absent or {}: all; {{}}: none
  bool keep_dimensions = false;                      ///< the axes stay, with size 1
};
/// Attributes of GraphBuilder::resample2d().
struct Resample2dAttributes {
  /// The method that computes values between elements.
  InterpolationMode mode = InterpolationMode::nearest_neighbor;
  std::vector<float> scales{1, 1};  ///< of each of the axes, above 0
  /// Sizes of each of the axes; replaces the scales.
  std::optional<std::vector<std::uint32_t>> sizes{};
  std::vector<std::uint32_t> axes{2, 3};  ///< two of the input's
};
/// Attributes of GraphBuilder::reshape().
struct ReshapeAttributes {
  Shape new_shape{};  ///< with the same number of elements as the input
};
/// Attributes of GraphBuilder::reverse().
struct ReverseAttributes {
  std::optional<std::vector<std::uint32_t>> axes{};  ///< absent or {}: all; {{}}: none
};
/// Attributes of GraphBuilder::scatter_elements().
struct ScatterAttributes {
  std::uint32_t axis = 0;  ///< less than the input's rank
};
/// The result of an element and its update in GraphBuilder::scatter_reduce().
enum class ScatterReduction : std::uint8_t {
  add,       ///< their sum; integers wrap around
  multiply,  ///< their product; integers wrap around
  max,       ///< the larger one; NaN if one is NaN
  min        ///< the smaller one; NaN if one is NaN
};
/// Attributes of GraphBuilder::scatter_reduce(), which is not in WebNN.
struct ScatterReduceAttributes {
  ScatterReduction reduction = ScatterReduction::add;  ///< of an element and each of its updates
};
/// Attributes of GraphBuilder::slice(). Each vector has one number for each dimension of the input.
struct SliceAttributes {
  std::vector<std::uint32_t> starts{};  ///< first element
  /// Length of the range, above 0, before strides pick from it.
  std::vector<std::uint32_t> sizes{};
  std::optional<std::vector<std::uint32_t>> strides{};  ///< absent: ones
};
/// Attributes of GraphBuilder::softmax().
struct SoftmaxAttributes {
  std::uint32_t axis = 0;  ///< less than the input's rank
};
/// Attributes of GraphBuilder::split().
struct SplitAttributes {
  /// With `equal_parts`: one entry, the number of equal parts. Otherwise the size of each part.
  std::vector<std::uint32_t> splits{};
  bool equal_parts = false;  ///< selects the meaning of `splits`
  std::uint32_t axis = 0;    ///< less than the input's rank
};
/// Attributes of GraphBuilder::tile().
struct TileAttributes {
  std::vector<std::uint32_t> repetitions{};  ///< of each dimension, above 0
};
/// Attributes of GraphBuilder::top_k(), which is not in WebNN.
struct TopKAttributes {
  std::uint32_t k = 1;     ///< number of indices along the axis: 1 to the input's size there
  std::uint32_t axis = 0;  ///< less than the input's rank
  bool largest = true;     ///< false: the smallest
};
/// Attributes of GraphBuilder::transpose().
struct TransposeAttributes {
  std::optional<std::vector<std::uint32_t>> permutation{};  ///< absent: dimensions reversed
};
/// Attributes of GraphBuilder::triangular().
struct TriangularAttributes {
  bool upper = true;  ///< false: the lower triangle
  /// The outermost diagonal that is kept: above the main one, or below it if negative.
  std::int32_t diagonal = 0;
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
                 ReverseAttributes, ScatterAttributes, ScatterReduceAttributes, SliceAttributes,
                 SoftmaxAttributes, SplitAttributes, TileAttributes, TopKAttributes,
                 TransposeAttributes, TriangularAttributes>;

}  // namespace polychron
