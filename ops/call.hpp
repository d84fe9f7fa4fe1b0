// The argument of a shape rule: an operator with its operands and attributes, and a way to refuse
// them.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "ops/infer.hpp"
#include "polychron/error.hpp"

namespace polychron::ops {

/// One application of an operator, while it is being validated. Refers to the caller's values.
class Call {
 public:
  Call(const Row& row, Operands operands, const Attributes& attributes, std::string_view label)
      : row_(row), operands_(operands), attributes_(attributes), label_(label) {}

  std::size_t size() const { return operands_.size(); }
  bool has(std::size_t index) const { return index < size() && operands_[index] != nullptr; }
  const OperandDescriptor& operand(std::size_t index) const { return *operands_[index]; }
  const Shape& shape(std::size_t index) const { return operand(index).shape; }
  const Row& row() const { return row_; }

  template <class A>
  const A& attributes() const {
    return std::get<A>(attributes_);
  }

  /// The signature's rule for operand `index`.
  const OperandRule& rule(std::size_t index) const {
    return row_.operands()[row_.call.variadic() ? 0 : index];
  }
  /// "operand 'filter'", "operand 'inputs[2]'"; also for a surplus operand.
  std::string name(std::size_t index) const;

  /// Throws Error (type_error): "[label] conv2d: <what>".
  [[noreturn]] void fail(const std::string& what) const;

  // Checks that several families share; each throws as fail() does.
  void expect_shape(std::size_t index, const Shape& expected) const;
  void expect_axis(std::uint32_t axis, std::size_t rank) const;
  void expect_axes(std::span<const std::uint32_t> axes, std::size_t rank,
                   std::string_view option) const;
  void expect_length(std::span<const std::uint32_t> list, std::size_t length,
                     std::string_view option) const;
  void expect_positive(std::span<const std::uint32_t> list, std::string_view option) const;
  std::uint32_t expect_dimension(std::uint64_t size, std::string_view what) const;

 private:
  const Row& row_;
  Operands operands_;
  const Attributes& attributes_;
  std::string_view label_;
};

}  // namespace polychron::ops
