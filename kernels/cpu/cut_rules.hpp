// The dimension of its result along which each operator may be cut.
#pragma once

#include <optional>
#include <vector>

#include "kernels/problem.hpp"

namespace polychron::kernels {

/// A dimension of the result, and the matching dimensions of the operands.
struct Cut {
  std::size_t output = 0;                          ///< the result's dimension
  std::size_t extent = 0;                          ///< its elements
  std::size_t unit = 1;                            ///< indivisible number of elements
  std::vector<std::optional<std::size_t>> inputs;  ///< each operand's dimension; none: all of it
  bool strides = false;  ///< true: its kernels accept operands with strides
  bool groups = false;   ///< true: groups are cut with their channels
  double work = 0;       ///< estimate in ns on one thread
};

/// nullopt if the operator has no rule, or its operands do not fit the rule.
std::optional<Cut> rule(const Problem& problem);

}  // namespace polychron::kernels
