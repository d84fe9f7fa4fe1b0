// Small random graphs around one call: its operands come out of other operators, and others take
// its results, so that passes find something to fuse, fold, turn and share.
#pragma once

#include <memory>
#include <vector>

#include "ops/graph.hpp"
#include "tests/kernels/generated_call.hpp"

namespace polychron::tests {

/// Steps by their numbers. A step does nothing if a value's type or shape does not allow it, so
/// that a call can be shrunk within its surroundings.
struct Surroundings {
  std::vector<std::vector<unsigned>> before;  ///< on each operand: they give back what they take
  std::vector<unsigned> after;                ///< on each result
  bool own = false;                           ///< what the operator makes is an output, too
  bool kept = false;                          ///< its first operand is read by another, too
};

/// `changing`: steps behind the operator may compute with its results (floats that are finite, and
/// not large), otherwise they give back what they take.
Surroundings random_surroundings(const GeneratedCall& call, bool changing, test::Random& random);

/// The graph, and how many steps in it round, one after the other at most.
struct SurroundedCall {
  std::shared_ptr<ops::Graph> graph;
  std::size_t rounding_steps = 0;
};
SurroundedCall surrounded(const GeneratedCall& call, const Surroundings& surroundings);

}  // namespace polychron::tests
