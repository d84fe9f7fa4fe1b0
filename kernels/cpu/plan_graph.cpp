#include "kernels/cpu/plan_graph.hpp"

#include <algorithm>

#include "base/invariant.hpp"
#include "ops/number.hpp"

namespace polychron::kernels {

using ops::ValueId;

PlanGraph::PlanGraph(const ops::Graph& graph) : label(graph.label) {
  values.reserve(graph.values.size());
  for (const ops::Value& value : graph.values)
    values.push_back({value.kind, value.descriptor, Layout::plain, value.constant});
  nodes.reserve(graph.nodes.size());
  for (const ops::Node& node : graph.nodes) {
    nodes.push_back(
        {node.op, node.inputs, node.outputs, node.attributes, node.label, {}, node.inputs.size()});
    // As in the specification, an option is a number of its operand's type.
    if (!node.inputs.empty() && node.inputs[0] != ops::no_value)
      ops::cast_options(nodes.back().attributes, values[node.inputs[0]].descriptor.data_type);
  }
  for (const auto& [name, value] : graph.inputs) inputs.push_back(value);
  for (const auto& [name, value] : graph.outputs) outputs.push_back(value);
}

ValueId PlanGraph::add_value(PlanValue value) {
  values.push_back(std::move(value));
  return static_cast<ValueId>(values.size() - 1);
}

ValueId PlanGraph::add_constant(const Shape& shape, std::span<const float> floats) {
  ensure(element_count(shape) == floats.size(), "a constant has its shape's number of elements");
  PlanValue value;
  value.kind = ops::Value::Kind::constant;
  value.descriptor.shape = shape;
  value.constant = std::make_shared<const Buffer>(Buffer::copy_of(floats));
  return add_value(std::move(value));
}

bool PlanGraph::is_output(ValueId value) const {
  return std::find(outputs.begin(), outputs.end(), value) != outputs.end();
}

bool PlanGraph::is_constant(ValueId value) const {
  return value != ops::no_value && values[value].kind == ops::Value::Kind::constant;
}

void PlanGraph::sweep() {
  std::vector<bool> needed(values.size());
  for (const ValueId value : outputs) needed[value] = true;
  for (std::size_t i = nodes.size(); i-- > 0;) {
    PlanNode& node = nodes[i];
    if (node.removed || std::none_of(node.outputs.begin(), node.outputs.end(),
                                     [&](ValueId value) { return needed[value]; })) {
      node.removed = true;
      continue;
    }
    for (const ValueId value : node.inputs)
      if (value != ops::no_value) needed[value] = true;
  }
  std::erase_if(nodes, [](const PlanNode& node) { return node.removed; });
  std::vector<bool> computed(values.size());
  for (const PlanNode& node : nodes)
    for (const ValueId value : node.outputs) {
      ensure(!computed[value], "a value has one producer");
      computed[value] = true;
    }
  for (const ValueId value : outputs)
    ensure(computed[value] || values[value].kind != ops::Value::Kind::result,
           "a sweep keeps what outputs need");
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!needed[i]) values[i].constant.reset();
}

PlanNode unary_node(ops::OpId op, Attributes attributes, ValueId input, ValueId output,
                    std::string label) {
  PlanNode node;
  node.op = op;
  node.attributes = std::move(attributes);
  node.inputs = {input};
  node.outputs = {output};
  node.label = std::move(label);
  node.own_inputs = 1;
  return node;
}

Uses::Uses(const PlanGraph& graph)
    : producer(graph.values.size(), none), consumers(graph.values.size()) {
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (graph.nodes[i].removed) continue;
    for (const ValueId value : graph.nodes[i].outputs) producer[value] = i;
    for (const ValueId value : graph.nodes[i].inputs)
      if (value != ops::no_value) consumers[value].push_back(i);
  }
}

std::size_t only_consumer(const PlanGraph& graph, const Uses& uses, ValueId value) {
  if (uses.consumers[value].size() != 1 || graph.is_output(value)) return Uses::none;
  return uses.consumers[value].front();
}

std::uint64_t most_bytes_added(const PlanGraph& graph) {
  std::uint64_t bytes = std::uint64_t{64} << 20;
  for (const PlanValue& value : graph.values)
    if (value.constant) bytes += value.constant->size();
  return bytes;
}

namespace {

/// A value's descriptor gives the dimensions in memory; `order` gives those that the operator sees.
void set_order(Slot& slot, const std::vector<std::uint32_t>& order) {
  if (order.empty()) return;
  ensure(order.size() == slot.descriptor.shape.size(), "an order names each dimension");
  const Shape lies = slot.descriptor.shape;
  for (std::size_t i = 0; i < order.size(); ++i) slot.descriptor.shape[i] = lies[order[i]];
  slot.order = order;
}

}  // namespace

Problem problem_of(const PlanGraph& graph, const PlanNode& node) {
  Problem problem;
  problem.op = node.op;
  problem.attributes = node.attributes;
  problem.label = node.label;
  const auto slot = [&](ValueId id) {
    if (id == ops::no_value) return Slot{{}, Layout::plain, nullptr, false, {}, {}};
    const PlanValue& value = graph.values[id];
    return Slot{value.descriptor, value.layout, value.constant, true, {}, {}};
  };
  ensure(node.own_inputs <= node.inputs.size(), "post-operations' operands follow the own ones");
  for (const ValueId value : node.inputs) problem.inputs.push_back(slot(value));
  for (const ValueId value : node.outputs) problem.outputs.push_back(slot(value));
  for (std::size_t i = 0; i < node.input_orders.size(); ++i)
    set_order(problem.inputs[i], node.input_orders[i]);
  if (!node.output_order.empty()) set_order(problem.outputs[0], node.output_order);
  problem.post_ops = node.post_ops;
  problem.own_inputs = node.own_inputs;
  return problem;
}

}  // namespace polychron::kernels
