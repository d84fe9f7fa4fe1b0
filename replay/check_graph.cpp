#include "replay/check_graph.hpp"

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

class Checker {
 public:
  Checker(ops::Graph& graph, const std::vector<std::string>& operators)
      : graph_(graph), operators_(operators), known_(graph.values.size(), false) {}

  void run() {
    using Kind = ops::Value::Kind;
    std::set<ops::ValueId> inputs;
    for (const auto& [name, value] : graph_.inputs)
      if (kind_of(value) != Kind::input || !inputs.insert(value).second) refuse("its inputs");
    for (ops::ValueId id = 0; id < graph_.values.size(); ++id) {
      const auto& value = graph_.values[id];
      const auto bytes = byte_length(value.descriptor);
      if (!bytes) refuse("a shape");
      const bool holds_bytes = value.constant != nullptr;
      if (holds_bytes != (value.kind == Kind::constant)) refuse("its constants");
      if (holds_bytes && value.constant->size() != *bytes) refuse("a constant's size");
      if (value.kind == Kind::input && !inputs.contains(id)) refuse("an input without a name");
      known_[id] = value.kind != Kind::result;
    }
    for (auto& node : graph_.nodes) check(node);
    if (graph_.outputs.empty()) refuse("it has no outputs");
    for (const auto& [name, value] : graph_.outputs)
      if (kind_of(value) != Kind::result || !known_[value]) refuse("its outputs");
  }

 private:
  ops::Value::Kind kind_of(ops::ValueId id) const {
    if (id >= graph_.values.size()) refuse("a value");
    return graph_.values[id].kind;
  }
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
      if (kind_of(input) == ops::Value::Kind::result && !known_[input])
        refuse("a value that is used before it is made");
      operands.push_back(&graph_.values[input].descriptor);
    }
    const auto results = ops::infer(*row, operands, node.attributes, node.label);
    if (results.size() != node.outputs.size()) refuse("an operator's results");
    for (std::size_t i = 0; i < results.size(); ++i) {
      const auto id = node.outputs[i];
      if (kind_of(id) != ops::Value::Kind::result || known_[id]) refuse("a value made twice");
      if (graph_.values[id].descriptor != results[i]) refuse("a result's descriptor");
      known_[id] = true;
    }
  }

  ops::Graph& graph_;
  const std::vector<std::string>& operators_;
  std::vector<bool> known_;  ///< inputs, constants, and results of nodes so far
};

}  // namespace

ops::Graph checked(ops::Graph graph, const std::vector<std::string>& operators) {
  Checker(graph, operators).run();
  return graph;
}

}  // namespace polychron::replay
