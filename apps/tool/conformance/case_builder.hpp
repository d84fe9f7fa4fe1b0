// The graph of a conformance case, by the names in it.
#pragma once

#include <map>
#include <stdexcept>
#include <string>

#include "apps/tool/conformance/values.hpp"
#include "polychron/polychron.hpp"

namespace polychron::conformance {

/// An operator is not in the operator table.
struct UnknownOperator : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class CaseBuilder {
 public:
  /// Adds the case's inputs, constants and operators. Throws Malformed, UnknownOperator, Error.
  CaseBuilder(const Context& context, const json& test);
  Graph build(const json& outputs);

 private:
  /// Throws Malformed if the case has no such operand so far.
  const Operand& operand(const json& name) const;
  void add(const json& call);
  void name_results(const std::vector<Operand>& results, const json& names);

  GraphBuilder builder_;
  std::map<std::string, Operand> operands_;
};

}  // namespace polychron::conformance
