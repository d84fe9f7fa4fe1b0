// Arithmetic on operands, for writing decompositions.
#pragma once

#include <cmath>
#include <vector>

#include "onnx/node.hpp"

namespace polychron::onnx::detail {

/// An operand in a formula. Its operators get the node's label; numbers become constants of the
/// operand's type. Lives for one call of a handler.
class Term {
 public:
  Term(Node& node, Operand operand) : node_(&node), operand_(std::move(operand)) {}

  const Operand& operand() const noexcept { return operand_; }
  Dimensions shape() const { return Dimensions(operand_.shape()); }
  std::size_t rank() const { return shape().size(); }
  DataType data_type() const { return operand_.data_type(); }
  Node& node() const noexcept { return *node_; }

  /// A scalar of this operand's type.
  Term number(double value) const {
    const bool real = data_type() == DataType::float32 || data_type() == DataType::float16;
    const bool whole = value == std::floor(value) && std::abs(value) < 0x1p63;
    if (real || !whole) return with(builder().constant(data_type(), value));
    return with(builder().constant(data_type(), static_cast<std::int64_t>(value)));
  }
  Term with(Operand operand) const { return {*node_, std::move(operand)}; }

  // -- element-wise -------------------------------------------------------------------------------
  friend Term operator+(const Term& a, const Term& b) { return a.two(&GraphBuilder::add, b); }
  friend Term operator-(const Term& a, const Term& b) { return a.two(&GraphBuilder::sub, b); }
  friend Term operator*(const Term& a, const Term& b) { return a.two(&GraphBuilder::mul, b); }
  friend Term operator/(const Term& a, const Term& b) { return a.two(&GraphBuilder::div, b); }
  friend Term operator==(const Term& a, const Term& b) { return a.two(&GraphBuilder::equal, b); }
  friend Term operator<(const Term& a, const Term& b) { return a.two(&GraphBuilder::lesser, b); }
  friend Term operator<=(const Term& a, const Term& b) {
    return a.two(&GraphBuilder::lesser_or_equal, b);
  }
  friend Term operator>(const Term& a, const Term& b) { return b < a; }
  friend Term operator>=(const Term& a, const Term& b) { return b <= a; }
  friend Term operator&&(const Term& a, const Term& b) {
    return a.two(&GraphBuilder::logical_and, b);
  }
  friend Term operator||(const Term& a, const Term& b) {
    return a.two(&GraphBuilder::logical_or, b);
  }
  friend Term operator+(const Term& a, double b) { return a + a.number(b); }
  friend Term operator-(const Term& a, double b) { return a - a.number(b); }
  friend Term operator*(const Term& a, double b) { return a * a.number(b); }
  friend Term operator/(const Term& a, double b) { return a / a.number(b); }
  friend Term operator+(double a, const Term& b) { return b.number(a) + b; }
  friend Term operator-(double a, const Term& b) { return b.number(a) - b; }
  friend Term operator*(double a, const Term& b) { return b.number(a) * b; }
  friend Term operator/(double a, const Term& b) { return b.number(a) / b; }
  friend Term operator==(const Term& a, double b) { return a == a.number(b); }
  friend Term operator<(const Term& a, double b) { return a < a.number(b); }
  friend Term operator<=(const Term& a, double b) { return a <= a.number(b); }
  friend Term operator>(const Term& a, double b) { return a > a.number(b); }
  friend Term operator>=(const Term& a, double b) { return a >= a.number(b); }
  Term operator-() const { return one(&GraphBuilder::neg); }
  Term operator!() const { return one(&GraphBuilder::logical_not); }
  Term abs() const { return one(&GraphBuilder::abs); }
  Term sign() const { return one(&GraphBuilder::sign); }
  Term floor() const { return one(&GraphBuilder::floor); }
  Term round_even() const { return one(&GraphBuilder::round_even); }
  Term exp() const { return one(&GraphBuilder::exp); }
  Term log() const { return one(&GraphBuilder::log); }
  Term sqrt() const { return one(&GraphBuilder::sqrt); }
  Term tanh() const { return one(&GraphBuilder::tanh); }
  Term sigmoid() const { return one(&GraphBuilder::sigmoid); }
  Term relu() const { return one(&GraphBuilder::relu); }
  Term max(const Term& b) const { return two(&GraphBuilder::max, b); }
  Term min(const Term& b) const { return two(&GraphBuilder::min, b); }
  Term max(double b) const { return max(number(b)); }
  Term min(double b) const { return min(number(b)); }
  Term clamped(double low, double high) const { return max(low).min(high); }
  Term cast(DataType type) const {
    if (type == data_type()) return *this;
    return with(builder().cast(operand_, type, node_->label()));
  }
  /// `yes` where this uint8 operand is not 0, else `no`.
  Term choose(const Term& yes, const Term& no) const {
    return with(builder().where(operand_, yes.operand_, no.operand_, node_->label()));
  }

  // -- shapes -------------------------------------------------------------------------------------
  Term reshape(const Shape& shape) const {
    if (shape == this->shape()) return *this;
    return with(builder().reshape(operand_, shape, node_->label()));
  }
  Term expand(const Shape& shape) const {
    if (shape == this->shape()) return *this;
    return with(builder().expand(operand_, shape, node_->label()));
  }
  Term transpose(const std::vector<std::uint32_t>& order) const {
    return with(builder().transpose(operand_, {.permutation = order}, node_->label()));
  }
  /// The elements begin, begin + step, ... before `end` of an axis.
  Term slice(std::uint32_t axis, std::uint32_t begin, std::uint32_t end,
             std::uint32_t step = 1) const {
    const auto size = shape()[axis];
    if (begin == 0 && end == size && step == 1) return *this;
    std::vector<std::uint32_t> starts(rank(), 0);
    std::vector<std::uint32_t> sizes(shape().begin(), shape().end());
    std::vector<std::uint32_t> strides(rank(), 1);
    starts[axis] = begin;
    sizes[axis] = end - begin;
    strides[axis] = step;
    return with(builder().slice(operand_, {.starts = starts, .sizes = sizes, .strides = strides},
                                node_->label()));
  }
  /// One element of an axis; the axis is removed.
  Term at(std::uint32_t axis, std::uint32_t i) const {
    const auto one = slice(axis, i, i + 1);
    Shape to = shape();
    to.erase(to.begin() + axis);
    return one.reshape(to);
  }
  /// Inserts a dimension of 1.
  Term unsqueeze(std::uint32_t axis) const {
    if (axis > rank()) malformed("rank " + std::to_string(rank()) + " is too small");
    Shape to = shape();
    to.insert(to.begin() + axis, 1);
    return reshape(to);
  }
  Term gather(const Term& indices, std::uint32_t axis) const {
    return with(builder().gather(operand_, indices.operand_, {.axis = axis}, node_->label()));
  }
  Term pad(std::uint32_t axis, std::uint32_t begin, std::uint32_t end, double value = 0) const {
    if (begin == 0 && end == 0) return *this;
    if (axis >= rank()) malformed("rank " + std::to_string(rank()) + " is too small");
    std::vector<std::uint32_t> beginning(rank(), 0), ending(rank(), 0);
    beginning[axis] = begin;
    ending[axis] = end;
    return with(builder().pad(
        operand_, {.beginning_padding = beginning, .ending_padding = ending, .value = value},
        node_->label()));
  }

  // -- sums and products --------------------------------------------------------------------------
  using Reduction = Operand (GraphBuilder::*)(const Operand&, const ReduceAttributes&,
                                              GraphBuilder::Label);
  Term reduce(Reduction method, std::vector<std::uint32_t> axes, bool keep) const {
    return with((builder().*method)(operand_, {.axes = std::move(axes), .keep_dimensions = keep},
                                    node_->label()));
  }
  Term sum(std::vector<std::uint32_t> axes, bool keep = false) const {
    return reduce(&GraphBuilder::reduce_sum, std::move(axes), keep);
  }
  Term mean(std::vector<std::uint32_t> axes, bool keep = false) const {
    return reduce(&GraphBuilder::reduce_mean, std::move(axes), keep);
  }
  Term matmul(const Term& b) const { return two(&GraphBuilder::matmul, b); }

 private:
  using One = Operand (GraphBuilder::*)(const Operand&, GraphBuilder::Label);
  using Two = Operand (GraphBuilder::*)(const Operand&, const Operand&, GraphBuilder::Label);
  GraphBuilder& builder() const { return node_->builder; }
  Term one(One method) const { return with((builder().*method)(operand_, node_->label())); }
  Term two(Two method, const Term& b) const {
    return with((builder().*method)(operand_, b.operand_, node_->label()));
  }

  Node* node_;
  Operand operand_;
};

/// Input `i` of the node.
inline Term term(Node& node, std::size_t i) { return {node, node.operand(i)}; }

/// Known values as a term of `type`.
template <class T>
Term constant(Node& node, ElementType type, const Shape& shape, const std::vector<T>& values) {
  auto literal = make_literal(type, shape, values);
  node.importer.spend_bytes(literal.bytes.size());
  return {node, make_constant(node.importer, literal)};
}

inline Term concat(const std::vector<Term>& parts, std::uint32_t axis) {
  if (parts.empty()) malformed("there are no parts to join");
  if (parts.size() == 1) return parts.front();
  std::vector<Operand> operands;
  for (const auto& part : parts) operands.push_back(part.operand());
  auto& node = parts.front().node();
  return {node, node.builder.concat(operands, axis, node.label())};
}

}  // namespace polychron::onnx::detail
