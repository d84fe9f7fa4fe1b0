// A value in a graph under construction (WebNN: MLOperand).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "polychron/descriptor.hpp"
#include "polychron/dimension.hpp"

namespace polychron {

namespace detail {
class BuilderState;
}

/// A cheap handle to an input, a constant or a result of GraphBuilder. It belongs to the builder
/// that made it; every other builder refuses it (type_error). Reading it is thread-safe while its
/// builder is not in use.
class Operand {
 public:
  /// The data type, which the operator table derives from the operands' types.
  DataType data_type() const;
  /// The shape, which the operator's shape rule derives from the operands' shapes. Throws
  /// type_error if a dimension is dynamic.
  const Shape& shape() const;
  /// Data type and shape. The reference is valid while the builder or any of its operands exists.
  /// Throws type_error if the operand was moved from, or has a dynamic dimension.
  const OperandDescriptor& descriptor() const;
  /// The shape with its dynamic dimensions. A size that an operator derives from dynamic ones has a
  /// name that the library makes, for messages alone.
  std::vector<Dimension> dimensions() const;

 private:
  friend class GraphBuilder;
  friend class detail::BuilderState;
  Operand(std::shared_ptr<detail::BuilderState> owner, std::uint32_t value)
      : owner_(std::move(owner)), value_(value) {}
  const detail::BuilderState& owner() const;
  std::shared_ptr<detail::BuilderState> owner_;
  std::uint32_t value_ = 0;
};

/// The optional operands of the normalizations. Their shape is [channels], and of
/// GraphBuilder::layer_normalization() the input's sizes along axes.
struct ScaleAndBias {
  std::optional<Operand> scale{};  ///< absent: 1
  std::optional<Operand> bias{};   ///< absent: 0
};
/// The optional operands of GraphBuilder::gru().
struct GruOperands {
  std::optional<Operand> bias{};                  ///< [directions, 3 * hidden_size]; absent: 0
  std::optional<Operand> recurrent_bias{};        ///< [directions, 3 * hidden_size]; absent: 0
  std::optional<Operand> initial_hidden_state{};  ///< [directions, batch, hidden_size]; absent: 0
};
/// The optional operands of GraphBuilder::gru_cell().
struct GruCellOperands {
  std::optional<Operand> bias{};            ///< [3 * hidden_size]; absent: 0
  std::optional<Operand> recurrent_bias{};  ///< [3 * hidden_size]; absent: 0
};
/// The optional operands of GraphBuilder::lstm().
struct LstmOperands {
  std::optional<Operand> bias{};            ///< [directions, 4 * hidden_size]; absent: 0
  std::optional<Operand> recurrent_bias{};  ///< [directions, 4 * hidden_size]; absent: 0
  /// Weights of the input, output and forget gates, in this order: [directions, 3 * hidden_size];
  /// absent: 0.
  std::optional<Operand> peephole_weight{};
  std::optional<Operand> initial_hidden_state{};  ///< [directions, batch, hidden_size]; absent: 0
  std::optional<Operand> initial_cell_state{};    ///< [directions, batch, hidden_size]; absent: 0
};
/// The optional operands of GraphBuilder::lstm_cell().
struct LstmCellOperands {
  std::optional<Operand> bias{};            ///< [4 * hidden_size]; absent: 0
  std::optional<Operand> recurrent_bias{};  ///< [4 * hidden_size]; absent: 0
  /// Weights of the input, output and forget gates, in this order: [3 * hidden_size]; absent: 0.
  std::optional<Operand> peephole_weight{};
};

/// WebNN's MLNamedOperands: the outputs of a graph by name, in order.
using NamedOperands = std::vector<std::pair<std::string, Operand>>;

}  // namespace polychron
