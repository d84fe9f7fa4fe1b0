// Writes conformance cases from graphs, in the form that the reader reads.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "apps/tool/conformance/values.hpp"
#include "ops/graph.hpp"

namespace polychron::conformance {

/// The parts of a case besides its graph.
struct CaseNotes {
  std::string name;
  std::string source;
  std::string metric = "ULP";
  double tolerance = 0;
};

/// A case of `graph`. `inputs` and `outputs` are the bytes of its inputs and of its expected
/// outputs, in the graph's order. Operands that have no name in the graph get one.
json case_of(const ops::Graph& graph, std::span<const std::span<const std::byte>> inputs,
             std::span<const std::span<const std::byte>> outputs, const CaseNotes& notes);

/// "dataType", "shape" and "data".
json operand_of(const OperandDescriptor& descriptor, std::span<const std::byte> bytes);

/// The attributes under the specification's names.
json fields_of(const Attributes& attributes);

}  // namespace polychron::conformance
