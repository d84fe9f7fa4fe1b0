// The limits of the operators (WebNN: MLOpSupportLimits), derived from the operator table.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "polychron/attributes.hpp"
#include "polychron/descriptor.hpp"

namespace polychron {

/// WebNN's MLTensorLimits. https://www.w3.org/TR/webnn/#dictdef-mltensorlimits
struct TensorLimits {
  std::vector<DataType> data_types;   ///< the allowed types, in DataType's order
  std::uint32_t rank_min = 0;         ///< lowest rank
  std::uint32_t rank_max = max_rank;  ///< highest rank
};

/// An operator's operands and outputs by their specification names.
struct OperatorLimits {
  std::string name;  ///< the specification's, for instance "conv2d"
  std::vector<std::pair<std::string, TensorLimits>> operands;  ///< operands, then outputs

  /// The limits of the operand or output with that name, or nullptr.
  const TensorLimits* find(std::string_view operand) const noexcept;
};

/// WebNN's MLOpSupportLimits. https://www.w3.org/TR/webnn/#dictdef-mlopsupportlimits
struct OpSupportLimits {
  /// The default layout of operators with a layout attribute.
  InputOperandLayout preferred_input_layout = InputOperandLayout::nchw;
  /// The most bytes of one tensor or operand.
  std::uint64_t max_tensor_byte_length = polychron::max_tensor_byte_length;
  TensorLimits input;                     ///< of GraphBuilder::input()
  TensorLimits constant;                  ///< of GraphBuilder::constant()
  TensorLimits output;                    ///< of outputs of GraphBuilder::build()
  std::vector<OperatorLimits> operators;  ///< every operator, in the table's order

  /// The limits of an operator by its specification name, or nullptr.
  const OperatorLimits* find(std::string_view name) const noexcept;
};

}  // namespace polychron
