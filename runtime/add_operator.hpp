// The one path by which GraphBuilder's methods add operators.
#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ops/table.hpp"
#include "runtime/builder_state.hpp"

namespace polychron::detail {

/// Throws invalid_state for a builder that has been moved away.
inline BuilderState& state_of(const std::shared_ptr<BuilderState>& state) {
  if (!state) throw Error(ErrorKind::invalid_state, "this graph builder has been moved away");
  return *state;
}

/// An optional operand as add_node() takes it.
inline const Operand* given(const std::optional<Operand>& operand) {
  return operand ? &*operand : nullptr;
}

/// The attributes in an operator's options.
template <class A>
Attributes attributes_of(const OptionsOf<A>& options) {
  return static_cast<const A&>(options);
}

/// Adds an operator that has one result.
inline Operand add_one(const std::shared_ptr<BuilderState>& state, ops::OpId op,
                       std::initializer_list<const Operand*> operands, Attributes attributes,
                       const std::string& label) {
  auto results = state_of(state).add_node(ops::row(op), {operands.begin(), operands.size()},
                                          std::move(attributes), label);
  return std::move(results.front());
}

}  // namespace polychron::detail
