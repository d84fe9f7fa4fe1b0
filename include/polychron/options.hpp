// Options of the operators (WebNN's MLxxxOptions dictionaries): what a caller fills in. The plain
// values are in polychron/attributes.hpp; here they get the optional operands and the label. What
// is an argument of the builder's method, as an axis often is, is no option.
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
  std::string label;  ///< in every message about the operator; empty: none
};

/// Options of an operator without optional operands: its attributes and a label.
template <class A>
struct OptionsOf : A {
  std::string label;  ///< in every message about the operator; empty: none
};

/// Options of GraphBuilder::clamp().
using ClampOptions = OptionsOf<ClampAttributes>;
/// Options of GraphBuilder::elu().
using EluOptions = OptionsOf<EluAttributes>;
/// Options of GraphBuilder::gather() and GraphBuilder::gather_elements().
using GatherOptions = OptionsOf<GatherAttributes>;
/// Options of GraphBuilder::hard_sigmoid().
using HardSigmoidOptions = OptionsOf<HardSigmoidAttributes>;
/// Options of GraphBuilder::leaky_relu().
using LeakyReluOptions = OptionsOf<LeakyReluAttributes>;
/// Options of GraphBuilder::linear().
using LinearOptions = OptionsOf<LinearAttributes>;
/// Options of GraphBuilder::average_pool2d() and its relatives.
using Pool2dOptions = OptionsOf<Pool2dAttributes>;
/// Options of GraphBuilder::reduce_sum() and its relatives.
using ReduceOptions = OptionsOf<ReduceAttributes>;
/// Options of GraphBuilder::resample2d().
using Resample2dOptions = OptionsOf<Resample2dAttributes>;
/// Options of GraphBuilder::reverse().
using ReverseOptions = OptionsOf<ReverseAttributes>;
/// Options of GraphBuilder::scatter_elements().
using ScatterOptions = OptionsOf<ScatterAttributes>;
/// Options of GraphBuilder::transpose().
using TransposeOptions = OptionsOf<TransposeAttributes>;
/// Options of GraphBuilder::triangular().
using TriangularOptions = OptionsOf<TriangularAttributes>;

/// Options of GraphBuilder::arg_min() and GraphBuilder::arg_max().
struct ArgMinMaxOptions {
  bool keep_dimensions = false;                 ///< the axis stays, with size 1
  DataType output_data_type = DataType::int32;  ///< or int64
  std::string label;                            ///< in every message about the operator
};
/// Options of GraphBuilder::cumulative_sum().
struct CumulativeSumOptions {
  bool exclusive = false;  ///< sums are of what comes before an element, not with it
  bool reversed = false;   ///< from the end to the beginning
  std::string label;       ///< in every message about the operator
};

/// Options of GraphBuilder::batch_normalization().
struct BatchNormalizationOptions : OptionsOf<BatchNormalizationAttributes> {
  std::optional<Operand> scale;  ///< [channels]; absent: 1
  std::optional<Operand> bias;   ///< [channels]; absent: 0
};
/// Options of GraphBuilder::conv2d().
struct Conv2dOptions : OptionsOf<Conv2dAttributes> {
  std::optional<Operand> bias;  ///< [output channels]; absent: 0
};
/// Options of GraphBuilder::conv_transpose2d().
struct ConvTranspose2dOptions : OptionsOf<ConvTranspose2dAttributes> {
  std::optional<Operand> bias;  ///< [output channels]; absent: 0
};
/// Options of GraphBuilder::gemm().
struct GemmOptions : OptionsOf<GemmAttributes> {
  std::optional<Operand> c;  ///< broadcasts to the product; absent: 0
};
/// Options of GraphBuilder::gru().
struct GruOptions : OptionsOf<GruChoices> {
  std::optional<Operand> bias;                  ///< [directions, 3 * hidden_size]; absent: 0
  std::optional<Operand> recurrent_bias;        ///< [directions, 3 * hidden_size]; absent: 0
  std::optional<Operand> initial_hidden_state;  ///< [directions, batch, hidden_size]; absent: 0
};
/// Options of GraphBuilder::gru_cell().
struct GruCellOptions : OptionsOf<GruCellChoices> {
  std::optional<Operand> bias;            ///< [3 * hidden_size]; absent: 0
  std::optional<Operand> recurrent_bias;  ///< [3 * hidden_size]; absent: 0
};
/// Options of GraphBuilder::lstm().
struct LstmOptions : OptionsOf<LstmChoices> {
  std::optional<Operand> bias;            ///< [directions, 4 * hidden_size]; absent: 0
  std::optional<Operand> recurrent_bias;  ///< [directions, 4 * hidden_size]; absent: 0
  /// Of the input, output and forget gates, in this order: [directions, 3 * hidden_size]; absent:
  /// 0.
  std::optional<Operand> peephole_weight;
  std::optional<Operand> initial_hidden_state;  ///< [directions, batch, hidden_size]; absent: 0
  std::optional<Operand> initial_cell_state;    ///< [directions, batch, hidden_size]; absent: 0
};
/// Options of GraphBuilder::lstm_cell().
struct LstmCellOptions : OptionsOf<LstmCellChoices> {
  std::optional<Operand> bias;            ///< [4 * hidden_size]; absent: 0
  std::optional<Operand> recurrent_bias;  ///< [4 * hidden_size]; absent: 0
  /// Of the input, output and forget gates, in this order: [3 * hidden_size]; absent: 0.
  std::optional<Operand> peephole_weight;
};
/// Options of GraphBuilder::instance_normalization().
struct InstanceNormalizationOptions : OptionsOf<InstanceNormalizationAttributes> {
  std::optional<Operand> scale;  ///< [channels]; absent: 1
  std::optional<Operand> bias;   ///< [channels]; absent: 0
};
/// Options of GraphBuilder::layer_normalization().
struct LayerNormalizationOptions : OptionsOf<LayerNormalizationAttributes> {
  std::optional<Operand> scale;  ///< the input's sizes along axes; absent: 1
  std::optional<Operand> bias;   ///< the input's sizes along axes; absent: 0
};
/// Options of GraphBuilder::pad().
struct PadOptions {
  PaddingMode mode = PaddingMode::constant;  ///< reflection: paddings are below the dimension
  Number value = 0.0;                        ///< for PaddingMode::constant
  std::string label;                         ///< in every message about the operator
};
/// Options of GraphBuilder::slice().
struct SliceOptions {
  std::optional<std::vector<std::uint32_t>> strides;  ///< one a dimension, above 0; absent: ones
  std::string label;                                  ///< in every message about the operator
};
/// Options of GraphBuilder::split().
struct SplitOptions {
  std::uint32_t axis = 0;  ///< below the input's rank
  std::string label;       ///< in every message about the operator
};
/// Options of GraphBuilder::build().
struct BuildOptions {
  std::string label;  ///< of the resulting graph
};

}  // namespace polychron
