// Problems for kernels, random and by hand, and runs of them on any implementation.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "kernels/kernel.hpp"

namespace polychron::tests {

/// Puts problems together. Inputs hold random numbers; constant ones are known while preparing.
class ProblemMaker {
 public:
  ProblemMaker(ops::OpId op, std::uint32_t seed) : generator_(seed) { problem_.op = op; }

  ProblemMaker& attributes(Attributes attributes) {
    problem_.attributes = std::move(attributes);
    return *this;
  }
  ProblemMaker& input(Shape shape, DataType type = DataType::float32);
  ProblemMaker& constant(Shape shape, DataType type = DataType::float32);
  /// An input of these bytes.
  ProblemMaker& given(OperandDescriptor descriptor, Buffer bytes);
  /// Numbers that count along `extent` elements: negative ones, and some out of range.
  ProblemMaker& indices(Shape shape, DataType type, std::uint32_t extent);
  ProblemMaker& absent();
  ProblemMaker& output(Shape shape, DataType type = DataType::float32);
  ProblemMaker& then(ops::OpId op, Attributes attributes = {});
  /// A post-operation with an operand of `shape`; the outputs come first.
  ProblemMaker& then_with(ops::OpId op, Shape shape, bool constant = false);
  /// Numbers of the following inputs lie between these.
  ProblemMaker& range(float low, float high);
  /// The following inputs have some special numbers: NaN, infinities, -0, subnormal numbers, the
  /// ends of an integer's range; and equal ones.
  ProblemMaker& specials() {
    specials_ = true;
    return *this;
  }

  kernels::Problem problem() const { return problem_; }
  const std::vector<Buffer>& values() const { return values_; }

 private:
  Buffer random_bytes(const OperandDescriptor& descriptor);
  kernels::Problem problem_;
  std::vector<Buffer> values_;  ///< per input; empty for absent ones
  std::mt19937 generator_;
  float low_ = -2, high_ = 2;
  bool specials_ = false;
};

/// The results of a problem.
struct Outcome {
  std::vector<Buffer> outputs;
  std::vector<Buffer> in_place;  ///< the first output again, for each input that it may overwrite
  std::string refusal;
  bool overran = false;  ///< it wrote behind its result or its scratch memory
};
/// Runs `problem` by `implementation`, on plain `values`. With a layout other than plain, values of
/// rank 4 are reordered to it and back.
Outcome run_kernel(const kernels::Implementation& implementation, kernels::Problem problem,
                   const std::vector<Buffer>& values,
                   kernels::Layout layout = kernels::Layout::plain);

/// The implementations of an operator, and before the last, the reference, the best of them in
/// parts, by the threads of a team: "parts".
std::vector<kernels::Implementation> ways_of(ops::OpId op);

/// The elements of a tensor's bytes as numbers.
std::vector<double> numbers_of(const OperandDescriptor& descriptor, const Buffer& bytes);

/// Compares every implementation of the problem's operator with the reference, within the
/// tolerances of the rows concerned, in every layout that it takes among those that the planner
/// might choose. Returns how many combinations ran besides the reference.
int check_implementations(const ProblemMaker& maker, const std::string& what);

}  // namespace polychron::tests
