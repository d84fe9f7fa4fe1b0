#include "observe/replay/check_graph.hpp"

#include <set>
#include <variant>

#include "ops/infer.hpp"
#include "ops/table.hpp"
#include "polychron/error.hpp"

namespace polychron::replay {

namespace {

[[noreturn]] void refuse(const std::string& why) {
  throw Error(ErrorKind::bad_data, "a graph in it is damaged: " + why);
}

using Kind = ops::Value::Kind;

Kind kind_of(const ops::Graph& graph, ops::ValueId id) {
  if (id >= graph.values.size()) refuse("a value");
  return graph.values[id].kind;
}

class Checker {
 public:
  Checker(ops::Graph& graph, const std::vector<std::string>& operators)
      : graph_(graph), operators_(operators) {}

  void run() {
    for (const auto& value : graph_.values) known_.push_back(value.kind != Kind::result);
    for (auto& node : graph_.nodes) check(node);
    for (const auto& [name, value] : graph_.outputs)
      if (!known_[value]) refuse("an output that nothing makes");
  }

 private:
  void check(ops::Node& node) {
    const auto number = static_cast<std::size_t>(node.op);
    const auto* const row = number < operators_.size() ? ops::find(operators_[number]) : nullptr;
    if (row == nullptr) refuse("an operator that this library has not");
    node.op = ops::id(*row);
    if (node.attributes.index() != row->attributes) refuse("attributes of another operator");
    std::vector<const OperandDescriptor*> operands;
    for (const auto input : node.inputs) {
      if (input == ops::no_value) {
        operands.push_back(nullptr);
        continue;
      }
      if (kind_of(graph_, input) == Kind::result && !known_[input])
        refuse("a value that is used before it is made");
      operands.push_back(&graph_.values[input].descriptor);
    }
    const auto results = ops::infer(*row, operands, node.attributes, node.label);
    if (results.size() != node.outputs.size()) refuse("an operator's results");
    for (std::size_t i = 0; i < results.size(); ++i) {
      const auto id = node.outputs[i];
      if (kind_of(graph_, id) != Kind::result || known_[id]) refuse("a value made twice");
      if (graph_.values[id].descriptor != results[i]) refuse("a result's descriptor");
      known_[id] = true;
    }
  }

  ops::Graph& graph_;
  const std::vector<std::string>& operators_;
  std::vector<bool> known_;  ///< inputs, constants, and results of nodes so far
};

}  // namespace

void check_values(const ops::Graph& graph) {
  std::set<ops::ValueId> inputs;
  for (const auto& [name, value] : graph.inputs)
    if (kind_of(graph, value) != Kind::input || !inputs.insert(value).second) refuse("its inputs");
  for (ops::ValueId id = 0; id < graph.values.size(); ++id) {
    const auto& value = graph.values[id];
    const auto bytes = byte_length(value.descriptor);
    if (!bytes) refuse("a shape");
    const bool holds_bytes = value.constant != nullptr;
    if (holds_bytes != (value.kind == Kind::constant)) refuse("its constants");
    if (holds_bytes && value.constant->size() != *bytes) refuse("a constant's size");
    if (value.kind == Kind::input && !inputs.contains(id)) refuse("an input without a name");
  }
  if (graph.outputs.empty()) refuse("it has no outputs");
  for (const auto& [name, value] : graph.outputs)
    if (kind_of(graph, value) != Kind::result) refuse("its outputs");
}

ops::Graph checked(ops::Graph graph, const std::vector<std::string>& operators) {
  check_values(graph);
  Checker(graph, operators).run();
  return graph;
}

}  // namespace polychron::replay
