// Along which dimension of its result each operator may be cut.
#pragma once

#include <optional>
#include <vector>

#include "kernels/problem.hpp"

namespace polychron::kernels {

/// A dimension of the result, and where it is found in the operands.
struct Cut {
  std::size_t output = 0;                          ///< the result's dimension
  std::size_t extent = 0;                          ///< its elements
  std::size_t unit = 1;                            ///< elements that stay together
  std::vector<std::optional<std::size_t>> inputs;  ///< each operand's dimension; none: all of it
  bool strides = false;  ///< its kernels take operands whose rows do not lie one after the other
  bool groups = false;   ///< groups go with their channels
  double work = 0;       ///< about what it takes, in ns on one thread
};

/// nullopt if the operator has no rule, or its operands do not fit it.
std::optional<Cut> rule(const Problem& problem);

}  // namespace polychron::kernels
