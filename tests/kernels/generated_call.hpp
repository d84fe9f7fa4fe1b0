// A call of one operator with all its operands, attributes and numbers, which the generator makes,
// tests, shrinks and prints.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/problem.hpp"
#include "ops/table.hpp"
#include "tests/ops/random.hpp"

namespace polychron::tests {

struct GeneratedOperand {
  OperandDescriptor descriptor;
  std::vector<std::byte> bytes;
  bool constant = false;  ///< known while a kernel is prepared
  bool present = true;    ///< false: an optional operand that is left out
};

struct GeneratedCall {
  const ops::Row* row = nullptr;
  Attributes attributes;
  std::vector<GeneratedOperand> operands;
  std::vector<OperandDescriptor> results;

  kernels::Problem problem() const;
  /// The operands' bytes; empty for what is left out.
  std::vector<Buffer> values() const;
  /// A graph of this one operator: operand i is input "in<i>" or a constant, results are "out<i>".
  std::shared_ptr<ops::Graph> graph() const;
  /// The results follow from the rest, or there is no such call: false.
  bool infer();
  /// The special numbers that occur in what floats and integers it is given.
  unsigned specials() const;
  /// "add(float32 [2, 3], constant float32 [3])".
  std::string text() const;
};

/// The types that a call's operands may have, one list of types for each choice: every combination
/// that the row allows. If the operator's attributes name a type (cast), the list has it as the
/// last one.
std::vector<std::vector<DataType>> type_choices(const ops::Row& row);

/// The operand whose type says most about a call: the first of those that allow most types.
std::size_t telling_operand(const ops::Row& row);

/// A call with these types: shapes, attributes, what is left out, what is constant and the values
/// are drawn from `random`.
GeneratedCall generate(const ops::Row& row, const std::vector<DataType>& types,
                       test::Random& random);

}  // namespace polychron::tests
