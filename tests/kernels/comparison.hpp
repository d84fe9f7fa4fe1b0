// How far results of kernels may be from the reference's, by the operator table.
#pragma once

#include <limits>
#include <string>

#include "kernels/problem.hpp"
#include "tests/kernels/problems.hpp"

namespace polychron::tests {

/// What a result is held to.
struct Allowed {
  /// How far a result may be off, as a part of its scale; 0: it is exact.
  double tolerance = 0;
  /// The scale is the expected number's own place in the order of numbers (its ULP, times
  /// 2^mantissa bits); otherwise it is that number, or 1 if that is more: of sums that cancel out,
  /// little is left that is right.
  bool own_scale = false;
  /// Elements are copied: a zero keeps its sign.
  bool copies = false;
  /// How far integers may be off: quantizing divides in float32, and may meet a tie so.
  double integers = 0;
};

/// By the row of the problem's operator, its post-operations, and the numbers that are added up.
Allowed allowed_of(const kernels::Problem& problem);

/// How many numbers are added up for an element of the result.
double terms_of(const kernels::Problem& problem);

/// The largest difference of two tensors of `descriptor`, as `allowed` measures it: at most its
/// tolerance if `actual` is right. NaN is like NaN only; integers beyond what is allowed are
/// infinitely far.
struct Difference {
  double distance = 0;
  std::size_t element = 0;
};
Difference difference(const OperandDescriptor& descriptor, const Buffer& actual,
                      const Buffer& expected, const Allowed& allowed);

/// "element 3 is 1.5, expected 1.25".
std::string text_of(const Difference& difference, const OperandDescriptor& descriptor,
                    const Buffer& actual, const Buffer& expected);

/// A run of one implementation, in one layout.
struct Run {
  std::size_t implementation = 0;  ///< its place in the operator's list
  kernels::Layout layout = kernels::Layout::plain;
  std::string complaint;  ///< what is wrong with its results; empty: nothing
  bool overran = false;   ///< it wrote beyond them
};

/// Runs every implementation besides the reference, in every layout that it takes of those that the
/// planner might choose. What refuses the problem is not in the list. `expected`: what the
/// reference computes.
std::vector<Run> run_implementations(const kernels::Problem& problem,
                                     const std::vector<Buffer>& values,
                                     const std::vector<Buffer>& expected);

/// What the reference computes.
std::vector<Buffer> reference_results(const kernels::Problem& problem,
                                      const std::vector<Buffer>& values);

}  // namespace polychron::tests
