// How a step is cut in parts that compute at the same time.
//
// A part is the same operator on a slice of the result, along one of its dimensions, and on what
// of the operands that slice takes. Never along a sum, and by the problem's shape alone: whoever
// computes the parts, and how many they are, the results are the same bits.
#pragma once

#include <vector>

#include "kernels/parts.hpp"
#include "kernels/problem.hpp"

namespace polychron::kernels {

struct Part {
  /// Of a constant whose elements lie here and there: the part has a copy, and its kernel has to
  /// take that over.
  static constexpr std::size_t scattered = ~std::size_t{0};

  Problem problem;
  /// Where its operands and its result begin in the whole's, in bytes.
  std::vector<std::size_t> inputs;
  std::size_t output = 0;
  /// An earlier part whose kernel computes this one too, or its own number.
  std::size_t twin = 0;
};

/// The parts of `problem`; none if it is to be computed as a whole: what would be in parts of less
/// than `least`, what cannot be cut along a dimension in which memory can be, what has no rule.
std::vector<Part> cut(const Problem& problem, double least = least_work);

}  // namespace polychron::kernels
