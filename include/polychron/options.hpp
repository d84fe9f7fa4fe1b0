// Options of the operators (WebNN's MLxxxOptions dictionaries). Callers fill them in by name:
// `builder.conv2d(x, filter, {.strides = {2, 2}, .label = "stem"})`. Fields are in the
// specification's order, the label last. Values mean the same as in polychron/attributes.hpp;
// attributes() converts to it. Arguments of the builder's method, such as an axis, are not options.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "polychron/attributes.hpp"
#include "polychron/operand.hpp"

namespace polychron {

/// WebNN's MLOperatorOptions. https://www.w3.org/TR/webnn/#dictdef-mloperatoroptions
struct OperatorOptions {
  std::string label{};  ///< in every message about the operator; empty: none
};

/// Options of GraphBuilder::clamp().
struct ClampOptions {
  std::optional<Number> min_value{};  ///< absent: unbounded below
  std::optional<Number> max_value{};  ///< absent: unbounded above
  std::string label{};                ///< in every message about the operator; empty: none
  /// The attributes, without operands and label.
  ClampAttributes attributes() const { return {min_value, max_value}; }
};

/// Options of GraphBuilder::elu().
struct EluOptions {
  double alpha = 1;     ///< factor below 0
  std::string label{};  ///< in every message about the operator; empty: none
  /// The attributes, without operands and label.
  EluAttributes attributes() const { return {alpha}; }
};

/// Options of GraphBuilder::gather() and GraphBuilder::gather_elements().
struct GatherOptions {
  std::uint32_t axis = 0;  ///< less than the input's rank
  std::string label{};     ///< in every message about the operator; empty: none
  /// The attributes, without operands and label.
  GatherAttributes attributes() const { return {axis}; }
};

/// Options of GraphBuilder::hard_sigmoid().
struct HardSigmoidOptions {
  double alpha = 0.2;   ///< factor
  double beta = 0.5;    ///< summand
  std::string label{};  ///< in every message about the operator; empty: none
  /// The attributes, without operands and label.
  HardSigmoidAttributes attributes() const { return {alpha, beta}; }
};

/// Options of GraphBuilder::leaky_relu().
struct LeakyReluOptions {
  double alpha = 0.01;  ///< factor below 0
  std::string label{};  ///< in every message about the operator; empty: none
  /// The attributes, without operands and label.
  LeakyReluAttributes attributes() const { return {alpha}; }
};

/// Options of GraphBuilder::linear().
struct LinearOptions {
  double alpha = 1;     ///< factor
  double beta = 0;      ///< summand
  std::string label{};  ///< in every message about the operator; empty: none
  /// The attributes, without operands and label.
  LinearAttributes attributes() const { return {alpha, beta}; }
};

/// Options of GraphBuilder::average_pool2d(), GraphBuilder::l2_pool2d() and
/// GraphBuilder::max_pool2d().
struct Pool2dOptions {
  std::optional<std::vector<std::uint32_t>> window_dimensions{};  ///< absent: the whole input
  std::vector<std::uint32_t> padding{0, 0, 0, 0};  ///< beginning and end of height, then of width
  std::vector<std::uint32_t> strides{1, 1};        ///< of height and width, above 0
  /// Dilations of height and width, above 0; 1 means no dilation.
  std::vector<std::uint32_t> dilations{1, 1};
  InputOperandLayout layout = InputOperandLayout::nchw;      ///< of input and result
  RoundingType output_shape_rounding = RoundingType::floor;  ///< of the result's height and width
  /// Height and width of the result, each rounded down or up; replaces output_shape_rounding.
  std::optional<std::vector<std::uint32_t>> output_sizes{};
  std::string label{};  ///< in every message about the operator; empty: none
  /// The attributes, without operands and label.
  Pool2dAttributes attributes() const {
    return {window_dimensions,     padding,     strides, dilations, layout,
            output_shape_rounding, output_sizes};
  }
};

/// Options of GraphBuilder::reduce_sum() and the other reduce_ methods.
struct ReduceOptions {
  std::optional<std::vector<std::uint32_t>> axes{};  ///< absent or {}: all; {{}}: none
  bool keep_dimensions = false;                      ///< the axes stay, with size 1
  std::string label{};  ///< in every message about the operator; empty: none
  /// The attributes, without operands and label.
  ReduceAttributes attributes() const { return {axes, keep_dimensions}; }
};

/// Options of GraphBuilder::resample2d().
struct Resample2dOptions {
  /// The method that computes values between elements.
  InterpolationMode mode = InterpolationMode::nearest_neighbor;
  std::vector<float> scales{1, 1};  ///< of each of the axes, above 0
  /// Sizes of each of the axes; replaces the scales.
  std::optional<std::vector<std::uint32_t>> sizes{};
  std::vector<std::uint32_t> axes{2, 3};  ///< two of the input's
  std::string label{};                    ///< in every message about the operator; empty: none
  /// The attributes, without operands and label.
  Resample2dAttributes attributes() const { return {mode, scales, sizes, axes}; }
};

/// Options of GraphBuilder::reverse().
struct ReverseOptions {
  std::optional<std::vector<std::uint32_t>> axes{};  ///< absent or {}: all; {{}}: none
  std::string label{};  ///< in every message about the operator; empty: none
  /// The attributes, without operands and label.
  ReverseAttributes attributes() const { return {axes}; }
};

/// Options of GraphBuilder::scatter_elements().
struct ScatterOptions {
  std::uint32_t axis = 0;  ///< less than the input's rank
  std::string label{};     ///< in every message about the operator; empty: none
  /// The attributes, without operands and label.
  ScatterAttributes attributes() const { return {axis}; }
};

/// Options of GraphBuilder::transpose().
struct TransposeOptions {
  std::optional<std::vector<std::uint32_t>> permutation{};  ///< absent: dimensions reversed
  std::string label{};  ///< in every message about the operator; empty: none
  /// The attributes, without operands and label.
  TransposeAttributes attributes() const { return {permutation}; }
};

/// Options of GraphBuilder::triangular().
struct TriangularOptions {
  bool upper = true;  ///< false: the lower triangle
  /// The outermost diagonal that is kept: above the main one, or below it if negative.
  std::int32_t diagonal = 0;
  std::string label{};  ///< in every message about the operator; empty: none
  /// The attributes, without operands and label.
  TriangularAttributes attributes() const { return {upper, diagonal}; }
};

/// Options of GraphBuilder::arg_min() and GraphBuilder::arg_max().
struct ArgMinMaxOptions {
  bool keep_dimensions = false;                 ///< the axis stays, with size 1
  DataType output_data_type = DataType::int32;  ///< or int64
  std::string label{};                          ///< in every message about the operator
};
/// Options of GraphBuilder::cumulative_sum().
struct CumulativeSumOptions {
  bool exclusive = false;  ///< each sum excludes its own element
  bool reversed = false;   ///< from the end to the beginning
  std::string label{};     ///< in every message about the operator
};

/// Options of GraphBuilder::top_k().
struct TopKOptions {
  bool largest = true;  ///< false: the smallest
  std::string label{};  ///< in every message about the operator
};

/// Options of GraphBuilder::batch_normalization().
struct BatchNormalizationOptions {
  std::optional<Operand> scale{};  ///< [channels]; absent: 1
  std::optional<Operand> bias{};   ///< [channels]; absent: 0
  std::uint32_t axis = 1;          ///< of the channels; less than the input's rank
  double epsilon = 1e-5;           ///< added to the variance
  std::string label{};             ///< in every message about the operator; empty: none
  /// The attributes, without operands and label.
  BatchNormalizationAttributes attributes() const { return {axis, epsilon}; }
};

/// Options of GraphBuilder::conv2d().
struct Conv2dOptions {
  std::vector<std::uint32_t> padding{0, 0, 0, 0};  ///< beginning and end of height, then of width
  std::vector<std::uint32_t> strides{1, 1};        ///< of height and width, above 0
  /// Dilations of height and width, above 0; 1 means no dilation.
  std::vector<std::uint32_t> dilations{1, 1};
  std::uint32_t groups = 1;  ///< divides the channels of the input and those of the output
  InputOperandLayout input_layout = InputOperandLayout::nchw;  ///< of input and result
  Conv2dFilterOperandLayout filter_layout = Conv2dFilterOperandLayout::oihw;  ///< of the filter
  std::optional<Operand> bias{};  ///< [output channels]; absent: 0
  std::string label{};            ///< in every message about the operator; empty: none
  /// The attributes, without operands and label.
  Conv2dAttributes attributes() const {
    return {padding, strides, dilations, groups, input_layout, filter_layout};
  }
};

/// Options of GraphBuilder::conv_transpose2d().
struct ConvTranspose2dOptions {
  /// Padding as in Conv2dOptions; removed from the result.
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
  std::optional<Operand> bias{};  ///< [output channels]; absent: 0
  std::string label{};            ///< in every message about the operator; empty: none
  /// The attributes, without operands and label.
  ConvTranspose2dAttributes attributes() const {
    return {padding,      strides, dilations,    output_padding,
            output_sizes, groups,  input_layout, filter_layout};
  }
};

/// Options of GraphBuilder::gemm().
struct GemmOptions {
  std::optional<Operand> c{};  ///< broadcasts to the product; absent: 0
  double alpha = 1;            ///< factor of the product
  double beta = 1;             ///< factor of c
  bool a_transpose = false;    ///< transpose a first
  bool b_transpose = false;    ///< transpose b first
  std::string label{};         ///< in every message about the operator; empty: none
  /// The attributes, without operands and label.
  GemmAttributes attributes() const { return {alpha, beta, a_transpose, b_transpose}; }
};

/// Options of GraphBuilder::gru().
struct GruOptions {
  std::optional<Operand> bias{};                  ///< [directions, 3 * hidden_size]; absent: 0
  std::optional<Operand> recurrent_bias{};        ///< [directions, 3 * hidden_size]; absent: 0
  std::optional<Operand> initial_hidden_state{};  ///< [directions, batch, hidden_size]; absent: 0
  /// Apply the reset gate to the product with the state, not to the state.
  bool reset_after = true;
  bool return_sequence = false;  ///< also return the hidden states of all steps
  RecurrentNetworkDirection direction = RecurrentNetworkDirection::forward;  ///< order of the steps
  GruWeightLayout layout = GruWeightLayout::zrn;  ///< of weights and biases
  /// Two: of the update and reset gates, and of the new gate. Absent: sigmoid, tanh.
  std::optional<std::vector<RecurrentNetworkActivation>> activations{};
  std::string label{};  ///< in every message about the operator; empty: none
  /// The attributes, including the arguments of the method.
  GruAttributes attributes(std::uint32_t steps, std::uint32_t hidden_size) const {
    return {{{reset_after, layout, activations}, return_sequence, direction}, steps, hidden_size};
  }
};

/// Options of GraphBuilder::gru_cell().
struct GruCellOptions {
  std::optional<Operand> bias{};            ///< [3 * hidden_size]; absent: 0
  std::optional<Operand> recurrent_bias{};  ///< [3 * hidden_size]; absent: 0
  /// Apply the reset gate to the product with the state, not to the state.
  bool reset_after = true;
  GruWeightLayout layout = GruWeightLayout::zrn;  ///< of weights and biases
  /// Two: of the update and reset gates, and of the new gate. Absent: sigmoid, tanh.
  std::optional<std::vector<RecurrentNetworkActivation>> activations{};
  std::string label{};  ///< in every message about the operator; empty: none
  /// The attributes, including the arguments of the method.
  GruCellAttributes attributes(std::uint32_t hidden_size) const {
    return {{reset_after, layout, activations}, hidden_size};
  }
};

/// Options of GraphBuilder::lstm().
struct LstmOptions {
  std::optional<Operand> bias{};            ///< [directions, 4 * hidden_size]; absent: 0
  std::optional<Operand> recurrent_bias{};  ///< [directions, 4 * hidden_size]; absent: 0
  /// Weights of the input, output and forget gates, in this order: [directions, 3 * hidden_size];
  /// absent: 0.
  std::optional<Operand> peephole_weight{};
  std::optional<Operand> initial_hidden_state{};  ///< [directions, batch, hidden_size]; absent: 0
  std::optional<Operand> initial_cell_state{};    ///< [directions, batch, hidden_size]; absent: 0
  bool return_sequence = false;                   ///< also return the hidden states of all steps
  RecurrentNetworkDirection direction = RecurrentNetworkDirection::forward;  ///< order of the steps
  LstmWeightLayout layout = LstmWeightLayout::iofg;  ///< of weights and biases
  /// Three: of the input, forget and output gates, of the cell gate, and of the cell state. Absent:
  /// sigmoid, tanh, tanh.
  std::optional<std::vector<RecurrentNetworkActivation>> activations{};
  std::string label{};  ///< in every message about the operator; empty: none
  /// The attributes, including the arguments of the method.
  LstmAttributes attributes(std::uint32_t steps, std::uint32_t hidden_size) const {
    return {{{layout, activations}, return_sequence, direction}, steps, hidden_size};
  }
};

/// Options of GraphBuilder::lstm_cell().
struct LstmCellOptions {
  std::optional<Operand> bias{};            ///< [4 * hidden_size]; absent: 0
  std::optional<Operand> recurrent_bias{};  ///< [4 * hidden_size]; absent: 0
  /// Weights of the input, output and forget gates, in this order: [3 * hidden_size]; absent: 0.
  std::optional<Operand> peephole_weight{};
  LstmWeightLayout layout = LstmWeightLayout::iofg;  ///< of weights and biases
  /// Three: of the input, forget and output gates, of the cell gate, and of the cell state. Absent:
  /// sigmoid, tanh, tanh.
  std::optional<std::vector<RecurrentNetworkActivation>> activations{};
  std::string label{};  ///< in every message about the operator; empty: none
  /// The attributes, including the arguments of the method.
  LstmCellAttributes attributes(std::uint32_t hidden_size) const {
    return {{layout, activations}, hidden_size};
  }
};

/// Options of GraphBuilder::instance_normalization().
struct InstanceNormalizationOptions {
  std::optional<Operand> scale{};                        ///< [channels]; absent: 1
  std::optional<Operand> bias{};                         ///< [channels]; absent: 0
  double epsilon = 1e-5;                                 ///< added to the variance
  InputOperandLayout layout = InputOperandLayout::nchw;  ///< of input and result
  std::string label{};  ///< in every message about the operator; empty: none
  /// The attributes, without operands and label.
  InstanceNormalizationAttributes attributes() const { return {epsilon, layout}; }
};

/// Options of GraphBuilder::layer_normalization().
struct LayerNormalizationOptions {
  std::optional<Operand> scale{};                    ///< the input's sizes along axes; absent: 1
  std::optional<Operand> bias{};                     ///< the input's sizes along axes; absent: 0
  std::optional<std::vector<std::uint32_t>> axes{};  ///< absent: all but the first
  double epsilon = 1e-5;                             ///< added to the variance
  std::string label{};  ///< in every message about the operator; empty: none
  /// The attributes, without operands and label.
  LayerNormalizationAttributes attributes() const { return {axes, epsilon}; }
};

/// Options of GraphBuilder::pad().
struct PadOptions {
  /// reflection: each padding is less than its dimension.
  PaddingMode mode = PaddingMode::constant;
  Number value = 0.0;   ///< for PaddingMode::constant
  std::string label{};  ///< in every message about the operator
};
/// Options of GraphBuilder::slice().
struct SliceOptions {
  /// One for each dimension, above 0; absent: ones.
  std::optional<std::vector<std::uint32_t>> strides{};
  std::string label{};  ///< in every message about the operator
};
/// Options of GraphBuilder::split().
struct SplitOptions {
  std::uint32_t axis = 0;  ///< less than the input's rank
  std::string label{};     ///< in every message about the operator
};
/// Options of GraphBuilder::build().
struct BuildOptions {
  std::string label{};  ///< of the resulting graph
};

}  // namespace polychron
