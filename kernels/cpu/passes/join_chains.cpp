// Joins neighbours in the order of nodes, which work element by element on one shape, into a chain.
// What all but the last make is read in the chain alone.
#include <algorithm>
#include <map>

#include "kernels/chain.hpp"
#include "kernels/cpu/passes/passes.hpp"

namespace polychron::kernels {
namespace {

using ops::ValueId;

/// Collects nodes, and the operators that were fused into them, as one chain.
class ChainMaker {
 public:
  void add(const PlanNode& node) {
    std::vector<std::uint32_t> operands;
    for (std::size_t i = 0; i < node.own_inputs; ++i) operands.push_back(number(node.inputs[i]));
    add(node.op, node.attributes, std::move(operands));
    for (const PostOp& post_op : node.post_ops) {
      operands = {last_step()};
      for (const std::uint32_t i : post_op.operands) operands.push_back(number(node.inputs[i]));
      add(post_op.op, post_op.attributes, std::move(operands));
    }
    chain_.label = node.label;
    chain_.outputs = node.outputs;
    numbers_[node.outputs[0]] = last_step();
  }

  std::size_t steps() const { return chain_.post_ops.size(); }

  PlanNode chain() const {
    PlanNode chain = chain_;
    chain.op = op_chain;
    chain.own_inputs = chain.inputs.size();
    for (PostOp& step : chain.post_ops)
      for (std::uint32_t& operand : step.operands)
        if (operand >= first_step)
          operand = operand - first_step + static_cast<std::uint32_t>(chain.inputs.size());
    return chain;
  }

 private:
  /// Steps are numbered from here on until all inputs are known.
  static constexpr std::uint32_t first_step = 1U << 16;

  std::uint32_t last_step() const {
    return first_step + static_cast<std::uint32_t>(chain_.post_ops.size() - 1);
  }
  std::uint32_t number(ValueId value) {
    const auto next = static_cast<std::uint32_t>(chain_.inputs.size());
    const auto [at, added] = numbers_.try_emplace(value, next);
    if (added) chain_.inputs.push_back(value);
    return at->second;
  }
  void add(ops::OpId op, const Attributes& attributes, std::vector<std::uint32_t> operands) {
    chain_.post_ops.push_back({op, attributes, std::move(operands)});
  }

  PlanNode chain_;
  std::map<ValueId, std::uint32_t> numbers_;
};

class ChainJoin {
 public:
  explicit ChainJoin(PlanGraph& graph) : graph_(graph), last_readers_(graph.values.size(), 0) {
    for (std::size_t i = 0; i < graph.nodes.size(); ++i)
      for (const ValueId value : graph.nodes[i].inputs)
        if (value != ops::no_value) last_readers_[value] = i;
    for (const ValueId value : graph.outputs) last_readers_[value] = graph.nodes.size();
  }

  void run() {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
      if (is_link(graph_.nodes[i])) i = join_from(i);
    graph_.sweep();
  }

 private:
  /// True if the node alone is a chain that has a kernel.
  bool is_link(const PlanNode& node) const {
    if (node.outputs.size() != 1 || !is_chain_operator(node.op, node.attributes) ||
        std::ranges::find(node.inputs, ops::no_value) != node.inputs.end())
      return false;
    ChainMaker alone;
    alone.add(node);
    return static_cast<bool>(
        implementations(op_chain).front().prepare(problem_of(graph_, alone.chain())));
  }

  /// Joins the longest chain that begins at node `first`. Returns its last node.
  std::size_t join_from(std::size_t first) {
    const auto shape = [&](std::size_t i) -> const Shape& {
      return graph_.values[graph_.nodes[i].outputs[0]].descriptor.shape;
    };
    ChainMaker maker;
    maker.add(graph_.nodes[first]);
    std::size_t last = first, reach = last_readers_[graph_.nodes[first].outputs[0]];
    PlanNode longest;
    for (std::size_t i = first + 1; i < graph_.nodes.size() && reach < graph_.nodes.size(); ++i) {
      const PlanNode& node = graph_.nodes[i];
      if (maker.steps() + 1 + node.post_ops.size() > most_chain_steps || !is_link(node) ||
          shape(i) != shape(first))
        break;
      maker.add(node);
      if (reach <= i) {
        last = i;
        longest = maker.chain();
      }
      reach = std::max(reach, last_readers_[node.outputs[0]]);
    }
    if (last == first) return first;
    for (std::size_t i = first; i < last; ++i) {
      graph_.nodes[i] = {};
      graph_.nodes[i].removed = true;
    }
    graph_.nodes[last] = std::move(longest);
    return last;
  }

  PlanGraph& graph_;
  std::vector<std::size_t> last_readers_;  ///< per value; the number of nodes for graph outputs
};

}  // namespace

void join_chains(PlanGraph& graph) { ChainJoin(graph).run(); }

}  // namespace polychron::kernels
