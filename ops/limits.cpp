#include "ops/limits.hpp"

#include <algorithm>

#include "ops/table.hpp"

namespace polychron {

const TensorLimits* OperatorLimits::find(std::string_view operand) const noexcept {
  for (const auto& [operand_name, limits] : operands)
    if (operand_name == operand) return &limits;
  return nullptr;
}

const OperatorLimits* OpSupportLimits::find(std::string_view name) const noexcept {
  const auto found = std::ranges::find(operators, name, &OperatorLimits::name);
  return found == operators.end() ? nullptr : &*found;
}

}  // namespace polychron

namespace polychron::ops {

namespace {

TensorLimits limits_of(const OperandRule& rule) {
  return {rule.types.members(), rule.rank_min, rule.rank_max};
}

OpSupportLimits derive() {
  const TensorLimits every{type_sets::any.members(), 0, max_rank};
  OpSupportLimits limits;
  limits.input = limits.constant = limits.output = every;
  for (const Row& row : rows()) {
    OperatorLimits operator_limits{std::string(row.name), {}};
    for (const auto& rules : {row.operands(), row.results()})
      for (const OperandRule& rule : rules)
        operator_limits.operands.emplace_back(rule.name, limits_of(rule));
    limits.operators.push_back(std::move(operator_limits));
  }
  return limits;
}

}  // namespace

const OpSupportLimits& support_limits() {
  static const OpSupportLimits limits = derive();
  return limits;
}

}  // namespace polychron::ops
