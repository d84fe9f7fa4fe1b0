// The graphs of programs. They compute numbers that tell which graph it was, and which operand
// stood where. Any backend can compute them exactly.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "ops/graph.hpp"
#include "polychron/descriptor.hpp"

namespace polychron::stress {

inline const TensorDescriptor value_descriptor{{DataType::uint64, {1}}, true, true, {}};

/// The value of output `output` of the graph labelled `graph`, given its inputs; the oracle uses
/// the same rule. It is the sum of each input times a coefficient of its own, and a constant,
/// modulo 2^64. The coefficients are drawn from the label. So two runs give the same values only if
/// every operation saw the same operands.
std::uint64_t symbolic_result(std::string_view graph, std::size_t output,
                              std::span<const std::uint64_t> inputs);

/// A graph that only its label and its number of inputs ("in0", "in1", ...; output "out") describe,
/// on tensors like `value_descriptor`: enough for the symbolic backend.
std::shared_ptr<const ops::Graph> symbolic_graph(const std::string& label, std::size_t inputs);

/// The same graph with nodes that compute its symbolic_result, for a backend that has kernels.
std::shared_ptr<const ops::Graph> computed_graph(const std::string& label, std::size_t inputs);

}  // namespace polychron::stress
