// What passes look for in a graph.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "kernels/cpu/plan_graph.hpp"
#include "ops/table.hpp"

namespace polychron::kernels {

/// A look at a graph while a pass walks over it. What is about to change it forgets and learns
/// again; or it refreshes, which is a walk over the whole graph.
class Matcher {
 public:
  explicit Matcher(PlanGraph& graph) : graph_(graph), uses_(graph) {}
  void refresh() { uses_ = Uses(graph_); }
  const Uses& uses() const { return uses_; }
  /// That node reads and makes nothing: before it is changed or taken out, and after those that
  /// read what it makes, if they are to be, too. (Who reads a constant or an input, as all of a
  /// graph may, stays as it was when this was refreshed.)
  void forget(std::size_t node);
  /// What that node reads and makes, which had been forgotten, and its values, which may be new.
  void learn(std::size_t node);

  /// The node that makes `value`, if it is `op`.
  PlanNode* made_by(ops::ValueId value, ops::OpId op) const;
  /// Likewise, if nobody else reads the value.
  PlanNode* only_made_by(ops::ValueId value, ops::OpId op) const;
  /// The value is a float32 constant of one element.
  std::optional<float> scalar(ops::ValueId value) const;
  /// The value is float32 and a constant that broadcasts to `shape` along `axis` only: its
  /// elements, as many as the dimension has.
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

/// `value` is `expected`, up to two roundings to float32, as constants of models are.
bool nearly(double value, double expected);

/// What linear() adds where nothing is: 0 would take the sign of a product that is -0.
inline constexpr double nothing = -0.0;
/// It multiplies and does not add.
bool is_product(const LinearAttributes& linear);
/// `factor`, or its float32, keeps the precision of what it is multiplied with.
bool is_normal(double factor);

}  // namespace polychron::kernels
