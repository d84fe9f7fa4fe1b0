// The immutable description of a graph, which GraphBuilder collects and backends compile.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "polychron/attributes.hpp"
#include "polychron/buffer.hpp"
#include "polychron/descriptor.hpp"

namespace polychron::ops {

/// Index of an operator's row in the table (ops/table.hpp); `op("conv2d")` finds it at compile
/// time.
enum class OpId : std::uint16_t {};

/// Index into Graph::values.
using ValueId = std::uint32_t;
/// Stands for an optional operand that was not given.
inline constexpr ValueId no_value = ~ValueId{0};

/// Constant bytes, shared by builders, graphs and constant tensors; never written after creation.
using ConstantBytes = std::shared_ptr<const Buffer>;

struct Value {
  enum class Kind : std::uint8_t { input, constant, result };
  Kind kind = Kind::result;
  OperandDescriptor descriptor;
  ConstantBytes constant;  ///< of a constant, else null
  bool counted = false;    ///< bytes of a constant tensor, which its context counts
};

/// An application of an operator. `inputs` has the operands in the row's order, `no_value` for
/// absent ones; a variadic operator (concat) has all that were given.
struct Node {
  OpId op{};
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  Attributes attributes;
  std::string label;
};

/// Invariants: nodes are in an order in which they can run; a value is the output of at most one
/// node; every value that a node reads is an input, a constant, or the output of an earlier node.
struct Graph {
  std::string label;
  std::vector<Value> values;
  std::vector<Node> nodes;
  std::vector<std::pair<std::string, ValueId>> inputs;   ///< in the order of input() calls
  std::vector<std::pair<std::string, ValueId>> outputs;  ///< in the order given to build()
};

/// A copy with inputs, outputs and the descriptors of all values, without nodes and the bytes of
/// constants.
inline Graph outline_of(const Graph& graph) {
  Graph outline{graph.label, {}, {}, graph.inputs, graph.outputs};
  outline.values.reserve(graph.values.size());
  for (const Value& value : graph.values)
    outline.values.push_back({value.kind, value.descriptor, nullptr, value.counted});
  return outline;
}

}  // namespace polychron::ops
