// The allowed differences between kernels' results and the reference's, by the operator table.
#pragma once

#include <limits>
#include <string>

#include "kernels/problem.hpp"
#include "tests/kernels/problems.hpp"

namespace polychron::tests {

/// The limits for a result.
struct Allowed {
  /// The allowed error of a result, as a part of its scale; 0: it is exact.
  double tolerance = 0;
  /// True: the scale is the expected number's own place in the order of numbers (its ULP, times
  /// 2^mantissa bits). False: it is that number, or 1 if that is more, since sums that cancel out
  /// keep few right digits.
  bool own_scale = false;
  /// Elements are copied: a zero keeps its sign.
  bool copies = false;
  /// The allowed error of integers: quantizing divides in float32, and may meet a tie so.
  double integers = 0;
};

/// By the row of the problem's operator, its post-operations, and the numbers that are added up.
Allowed allowed_of(const kernels::Problem& problem);

/// The number of terms that are added up for an element of the result.
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

/// Runs every implementation except the reference, in every layout that it takes among those that
/// the planner might choose. An implementation that refuses the problem is not in the list.
/// `expected`: the reference's results.
std::vector<Run> run_implementations(const kernels::Problem& problem,
                                     const std::vector<Buffer>& values,
                                     const std::vector<Buffer>& expected);

/// The reference's results.
std::vector<Buffer> reference_results(const kernels::Problem& problem,
                                      const std::vector<Buffer>& values);

}  // namespace polychron::tests
