// The graph as passes see it: a copy of ops::Graph that may be rewritten, with layouts and
// post-operations. Belongs to one compilation, on one thread.
#pragma once

#include <vector>

#include "kernels/problem.hpp"
#include "ops/graph.hpp"

namespace polychron::kernels {

struct PlanValue {
  ops::Value::Kind kind = ops::Value::Kind::result;
  OperandDescriptor descriptor;
  Layout layout = Layout::plain;
  ops::ConstantBytes constant;  ///< of a constant, else null
};

/// As ops::Node, with what was fused into it. The first `own_inputs` inputs are the operator's, the
/// others operands of post-operations.
struct PlanNode {
  ops::OpId op{};
  std::vector<ops::ValueId> inputs;
  std::vector<ops::ValueId> outputs;
  Attributes attributes;
  std::string label;
  std::vector<PostOp> post_ops;
  std::size_t own_inputs = 0;
  /// Slot::order of the inputs and of the output; empty, or shorter than the inputs: as they are.
  std::vector<std::vector<std::uint32_t>> input_orders = {};
  std::vector<std::uint32_t> output_order = {};
  std::size_t view_offset = 0;  ///< of a view: where its bytes begin in its input's
  bool removed = false;         ///< taken out by a pass; sweep() drops it
};

/// Invariants as ops::Graph's. Passes may append values and nodes and mark nodes removed; indices
/// stay valid until sweep().
struct PlanGraph {
  std::string label;
  std::vector<PlanValue> values;
  std::vector<PlanNode> nodes;
  std::vector<ops::ValueId> inputs;
  std::vector<ops::ValueId> outputs;

  explicit PlanGraph(const ops::Graph& graph);

  ops::ValueId add_value(PlanValue value);
  /// A float32 constant.
  ops::ValueId add_constant(const Shape& shape, std::span<const float> values);
  bool is_output(ops::ValueId value) const;
  bool is_constant(ops::ValueId value) const;
  /// Drops removed nodes and those whose results nobody reads.
  void sweep();
};

/// A node of one operand.
PlanNode unary_node(ops::OpId op, Attributes attributes, ops::ValueId input, ops::ValueId output,
                    std::string label);

/// Who makes and who reads each value. A snapshot: valid until nodes change.
struct Uses {
  static constexpr std::size_t none = ~std::size_t{0};
  std::vector<std::size_t> producer;                ///< node, or none
  std::vector<std::vector<std::size_t>> consumers;  ///< a node that reads twice is listed twice
  explicit Uses(const PlanGraph& graph);
};

/// The only reader of `value`, or Uses::none if there are more, none, or it is a graph output.
std::size_t only_consumer(const PlanGraph& graph, const Uses& uses, ops::ValueId value);

/// What a pass may add to the graph's constants: as many bytes as these have, and 64 MiB.
std::uint64_t most_bytes_added(const PlanGraph& graph);

/// What a kernel has to compute for `node`.
Problem problem_of(const PlanGraph& graph, const PlanNode& node);

}  // namespace polychron::kernels
