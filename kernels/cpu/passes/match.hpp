// Searches for patterns in a graph, for passes.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "kernels/cpu/plan_graph.hpp"
#include "ops/table.hpp"

namespace polychron::kernels {

/// A view of a graph while a pass walks over it. Before the pass changes a node it calls forget(),
/// and afterwards learn(). Or it calls refresh(), which walks over the whole graph.
class Matcher {
 public:
  explicit Matcher(PlanGraph& graph) : graph_(graph), uses_(graph) {}
  void refresh() { uses_ = Uses(graph_); }
  const Uses& uses() const { return uses_; }
  /// Forgets the values that the node reads and makes. Call it before changing or removing the
  /// node. If readers of its results change, too, forget them first. (Readers of constants and
  /// inputs may be the whole graph, so their lists keep the state of the last refresh.)
  void forget(std::size_t node);
  /// Learns what a forgotten node now reads and makes. Its values may be new.
  void learn(std::size_t node);

  /// The node that makes `value`, if its operator is `op`; else null.
  PlanNode* made_by(ops::ValueId value, ops::OpId op) const;
  /// The node that made_by() finds, if `value` has only one reader; else null.
  PlanNode* only_made_by(ops::ValueId value, ops::OpId op) const;
  /// The value with the same elements before any reshape.
  ops::ValueId source_of(ops::ValueId value) const;
  /// The element of `value`, if it is a float32 constant of one element.
  std::optional<float> scalar(ops::ValueId value) const;
  /// The elements of `value` along `axis`, if it is a float32 constant that broadcasts to `shape`
  /// along this axis only. There are as many as the dimension has.
  std::optional<std::vector<float>> vector(ops::ValueId value, const Shape& shape,
                                           std::size_t axis) const;
  const OperandDescriptor& descriptor(ops::ValueId value) const {
    return graph_.values[value].descriptor;
  }
  bool is_float32(ops::ValueId value) const {
    return descriptor(value).data_type == DataType::float32;
  }

 private:
  PlanGraph& graph_;
  Uses uses_;
};

/// The float32 elements of a constant.
std::span<const float> floats_of(const PlanValue& constant);

/// The two orders of a binary node's operands.
inline constexpr std::array<std::array<std::size_t, 2>, 2> both_orders{{{0, 1}, {1, 0}}};

/// True if `value` equals `expected` up to two roundings to float32, as constants of models do.
bool nearly(double value, double expected);

/// The beta of a linear() that adds nothing: +0 would change the sign of a product that is -0.
inline constexpr double nothing = -0.0;
/// True if it multiplies and does not add.
bool is_product(const LinearAttributes& linear);
/// True if one product with both factors overflows or vanishes where two products would.
bool keeps_range(double first, double second);
/// True if multiplying with `factor`, as a float32, keeps the precision of the other operand.
bool is_normal(double factor);

}  // namespace polychron::kernels
