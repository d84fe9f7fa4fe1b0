#include "kernels/cpu/passes/match.hpp"

#include <algorithm>
#include <cmath>

namespace polychron::kernels {

std::span<const float> floats_of(const PlanValue& constant) {
  return constant.constant->as<float>();
}

bool nearly(double value, double expected) {
  return std::fabs(value - expected) <= 0x1p-22 * std::fabs(expected);
}

bool is_product(const LinearAttributes& linear) {
  return linear.beta == 0 && std::signbit(linear.beta);
}

bool keeps_range(double first, double second) {
  const double a = std::fabs(first), b = std::fabs(second);
  return (a <= 1 && b <= 1) || (a >= 1 && b >= 1);
}

bool is_normal(double factor) { return std::isnormal(static_cast<float>(factor)); }

void Matcher::forget(std::size_t node) {
  for (const auto value : graph_.nodes[node].inputs)
    if (value != ops::no_value && uses_.producer[value] != Uses::none)
      std::erase(uses_.consumers[value], node);
  for (const auto value : graph_.nodes[node].outputs)
    if (uses_.producer[value] == node) uses_.producer[value] = Uses::none;
}

void Matcher::learn(std::size_t node) {
  uses_.producer.resize(graph_.values.size(), Uses::none);
  uses_.consumers.resize(graph_.values.size());
  for (const auto value : graph_.nodes[node].outputs) uses_.producer[value] = node;
  for (const auto value : graph_.nodes[node].inputs)
    if (value != ops::no_value && uses_.producer[value] != Uses::none)
      uses_.consumers[value].push_back(node);
}

PlanNode* Matcher::made_by(ops::ValueId value, ops::OpId op) const {
  if (value == ops::no_value || uses_.producer[value] == Uses::none) return nullptr;
  PlanNode& node = graph_.nodes[uses_.producer[value]];
  return !node.removed && node.op == op && node.post_ops.empty() ? &node : nullptr;
}

PlanNode* Matcher::only_made_by(ops::ValueId value, ops::OpId op) const {
  PlanNode* node = made_by(value, op);
  return node != nullptr && only_consumer(graph_, uses_, value) != Uses::none ? node : nullptr;
}

ops::ValueId Matcher::source_of(ops::ValueId value) const {
  while (const PlanNode* const reshape = made_by(value, ops::op("reshape")))
    value = reshape->inputs[0];
  return value;
}

std::optional<float> Matcher::scalar(ops::ValueId value) const {
  if (!graph_.is_constant(value) || !is_float32(value)) return std::nullopt;
  const auto floats = floats_of(graph_.values[value]);
  return floats.size() == 1 ? std::optional(floats[0]) : std::nullopt;
}

std::optional<std::vector<float>> Matcher::vector(ops::ValueId value, const Shape& shape,
                                                  std::size_t axis) const {
  if (const auto one = scalar(value)) return std::vector<float>(shape[axis], *one);
  if (!graph_.is_constant(value) || !is_float32(value)) return std::nullopt;
  const Shape& own = descriptor(value).shape;
  if (own.size() > shape.size()) return std::nullopt;
  const std::size_t shift = shape.size() - own.size();
  for (std::size_t i = 0; i < own.size(); ++i)
    if (own[i] != (i + shift == axis ? shape[axis] : 1U)) return std::nullopt;
  const auto floats = floats_of(graph_.values[value]);
  return std::vector<float>(floats.begin(), floats.end());
}

}  // namespace polychron::kernels
