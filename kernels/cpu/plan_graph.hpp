// The graph that passes rewrite: a copy of ops::Graph with layouts and post-operations. One
// compilation owns it, on one thread.
#pragma once

#include <vector>

#include "kernels/problem.hpp"
#include "ops/graph.hpp"

namespace polychron::kernels {

struct PlanValue {
  ops::Value::Kind kind = ops::Value::Kind::result;
  OperandDescriptor descriptor;
  Layout layout = Layout::plain;
  ops::ConstantBytes constant;  ///< null unless the value is a constant
};

/// An ops::Node, and the operators that were fused into it. The first `own_inputs` inputs are the
/// operator's own; the others are operands of post-operations.
struct PlanNode {
  ops::OpId op{};
  std::vector<ops::ValueId> inputs;
  std::vector<ops::ValueId> outputs;
  Attributes attributes;
  std::string label;
  std::vector<PostOp> post_ops;
  std::size_t own_inputs = 0;
  /// Slot::order of the inputs and of the output. An empty or missing order means no transpose.
  std::vector<std::vector<std::uint32_t>> input_orders = {};
  std::vector<std::uint32_t> output_order = {};
  std::size_t view_offset = 0;  ///< of a view: byte offset in its input
  bool removed = false;         ///< a pass has taken it out; sweep() drops it
};

/// Has the invariants of ops::Graph. Passes may append values and nodes and mark nodes removed.
/// Indices stay valid until sweep().
struct PlanGraph {
  std::string label;
  std::vector<PlanValue> values;
  std::vector<PlanNode> nodes;
  std::vector<ops::ValueId> inputs;
  std::vector<ops::ValueId> outputs;

  explicit PlanGraph(const ops::Graph& graph);

  ops::ValueId add_value(PlanValue value);
  /// Adds a float32 constant.
  ops::ValueId add_constant(const Shape& shape, std::span<const float> values);
  bool is_output(ops::ValueId value) const;
  bool is_constant(ops::ValueId value) const;
  /// Drops removed nodes, and nodes whose results nobody reads.
  void sweep();
};

/// A node of one operand.
PlanNode unary_node(ops::OpId op, Attributes attributes, ops::ValueId input, ops::ValueId output,
                    std::string label);

/// The producer and the consumers of each value. A snapshot: valid until nodes change.
struct Uses {
  static constexpr std::size_t none = ~std::size_t{0};
  std::vector<std::size_t> producer;                ///< node, or none
  std::vector<std::vector<std::size_t>> consumers;  ///< a node that reads it twice is listed twice
  explicit Uses(const PlanGraph& graph);
};

/// The only reader of `value`. Uses::none if there is no reader, there are several, or `value` is a
/// graph output.
std::size_t only_consumer(const PlanGraph& graph, const Uses& uses, ops::ValueId value);

/// The bytes that a pass may add to the graph's constants: their present size and 64 MiB.
std::uint64_t most_bytes_added(const PlanGraph& graph);

/// The problem that a kernel has to solve for `node`.
Problem problem_of(const PlanGraph& graph, const PlanNode& node);

}  // namespace polychron::kernels
