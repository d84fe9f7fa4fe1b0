// A value in a graph under construction (WebNN: MLOperand).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "polychron/descriptor.hpp"

namespace polychron {

namespace detail {
class BuilderState;
}

/// What GraphBuilder's methods take and return: a cheap handle to an input, a constant or a result.
/// It belongs to the builder that made it; every other builder refuses it (type_error). Reading it
/// is thread-safe while its builder is not being used.
class Operand {
 public:
  /// As the operator table has it of the operands' types.
  DataType data_type() const;
  /// As the operator's shape rule has it of the operands' shapes.
  const Shape& shape() const;
  /// Data type and shape; stays in place as long as the builder or an operand of it is kept. Throws
  /// type_error if the operand was moved away.
  const OperandDescriptor& descriptor() const;

 private:
  friend class GraphBuilder;
  friend class detail::BuilderState;
  Operand(std::shared_ptr<detail::BuilderState> owner, std::uint32_t value)
      : owner_(std::move(owner)), value_(value) {}
  std::shared_ptr<detail::BuilderState> owner_;
  std::uint32_t value_ = 0;
};

/// WebNN's MLNamedOperands: the outputs of a graph by name, in the order they shall have.
using NamedOperands = std::vector<std::pair<std::string, Operand>>;

}  // namespace polychron
