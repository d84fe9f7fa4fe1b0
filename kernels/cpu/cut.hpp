// Cuts a step into parts that compute at the same time.
//
// A part is the same operator on a slice of the result along one dimension, and on the matching
// slices of the operands. A cut never divides a sum, and it depends on the problem's shape alone.
// The results therefore have the same bits, whatever threads compute the parts and however many
// there are.
#pragma once

#include <vector>

#include "kernels/parts.hpp"
#include "kernels/problem.hpp"

namespace polychron::kernels {

struct Part {
  /// The offset of a constant whose elements are not contiguous. The part has a copy, which its
  /// kernel must keep in its own form.
  static constexpr std::size_t scattered = ~std::size_t{0};

  Problem problem;
  /// Byte offsets of its operands and its result in those of the whole.
  std::vector<std::size_t> inputs;
  std::size_t output = 0;
  /// An earlier part with an identical kernel, or its own number.
  std::size_t twin = 0;
};

/// The parts of `problem`. None if it is to be computed as a whole. The reason is one of these: a
/// part would take less than `least`, the memory layout does not allow the cut, the operator has no
/// rule.
std::vector<Part> cut(const Problem& problem, double least = least_work);

}  // namespace polychron::kernels
