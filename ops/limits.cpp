#include "ops/limits.hpp"

#include <algorithm>
#include <array>

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

OpSupportLimits derive(bool strict) {
  const TypeSet extra = strict ? TypeSet{} : type_sets::packed;
  const TensorLimits every{(type_sets::any | extra).members(), 0, max_rank};
  const auto limits_of = [&](const OperandRule& rule) {
    const TypeSet types = strict ? rule.types.without(type_sets::packed) : rule.types;
    return TensorLimits{types.members(), rule.rank_min, rule.rank_max};
  };
  OpSupportLimits limits;
  limits.input = limits.constant = limits.output = every;
  for (const Row& row : rows()) {
    if (strict && row.is_extension()) continue;
    OperatorLimits operator_limits{std::string(row.name), {}};
    for (const auto& rules : {row.operands(), row.results()})
      for (const OperandRule& rule : rules)
        operator_limits.operands.emplace_back(rule.name, limits_of(rule));
    limits.operators.push_back(std::move(operator_limits));
  }
  return limits;
}

}  // namespace

const OpSupportLimits& support_limits(bool strict) {
  static const auto& limits = *new std::array{derive(false), derive(true)};  // never destroyed
  return limits[strict ? 1 : 0];
}

}  // namespace polychron::ops
