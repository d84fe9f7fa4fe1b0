// A value in a graph under construction (WebNN: MLOperand).
#pragma once

#include <cstdint>
#include <memory>

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
  DataType data_type() const;
  const Shape& shape() const;
  const OperandDescriptor& descriptor() const;

 private:
  friend class GraphBuilder;
  friend class detail::BuilderState;
  Operand(std::shared_ptr<detail::BuilderState> owner, std::uint32_t value)
      : owner_(std::move(owner)), value_(value) {}
  std::shared_ptr<detail::BuilderState> owner_;
  std::uint32_t value_ = 0;
};

}  // namespace polychron
