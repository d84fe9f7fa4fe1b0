#include "onnx/importer.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "onnx/handlers.hpp"
#include "onnx/node_order.hpp"
#include "onnx/problem.hpp"
#include "polychron/context.hpp"

namespace polychron::onnx::detail {

void Importer::add_main(Scope& scope) {
  const Frame frame{model_.summary().opset, &scope, nullptr, 0};
  for (const auto* node : model_.body(model_.graph()).nodes) add_node(*node, frame);
}

std::vector<Tensor> Importer::add_graph(const proto::GraphProto& graph, const Frame& around,
                                        std::vector<Tensor> inputs) {
  const auto& body = model_.body(graph);
  Scope scope(body.constants, around.scope);
  return add_body(body, {around.opset, &scope, around.caller, around.depth + 1}, std::move(inputs));
}

std::vector<Tensor> Importer::add_function(const Function& function, const Node& caller,
                                           const Frame& around, std::vector<Tensor> inputs) {
  Scope scope(function.body.constants);
  return add_body(function.body, {function.opset, &scope, &caller, around.depth + 1},
                  std::move(inputs));
}

std::vector<Tensor> Importer::add_body(const Body& body, const Frame& frame,
                                       std::vector<Tensor> inputs) {
  if (frame.depth > max_depth) unsupported("functions and branches within each other so deep");
  if (inputs.size() > body.inputs.size())
    malformed(std::to_string(inputs.size()) + " inputs where the body takes " +
              std::to_string(body.inputs.size()));
  for (std::size_t i = 0; i < inputs.size(); ++i)
    frame.scope->put(body.inputs[i], std::move(inputs[i]));
  spend(body.nodes.size() + 1);
  for (const auto* node : body.nodes) add_node(*node, frame);
  std::vector<Tensor> outputs;
  for (const auto& name : body.outputs) outputs.push_back(frame.scope->at(name).renamed());
  return outputs;
}

/// Adds the node, and names it in errors. If the builder refuses an argument, the importer reports
/// not_supported: usually ONNX allows what WebNN does not. Models that ONNX forbids are rare, and
/// look the same from here.
void Importer::add_node(const proto::NodeProto& message, const Frame& frame) {
  Node node(message, frame, *this);
  const auto where = "operator " + quote(message.op_type()) + " (node " + quote(node.label()) +
                     ", opset " + std::to_string(frame.opset) + ")";
  const auto* function = model_.function(message.domain(), message.op_type());
  const auto handle = function ? nullptr : find_handler(message.domain(), message.op_type());
  if (!function && !handle) {
    if (own_domain(message.domain())) unsupported(where + ": the operator is not known");
    std::string known;
    for (const auto& name : operators_of(message.domain()))
      known += (known.empty() ? "" : ", ") + std::string(name);
    unsupported(where + ": the importer does not know it; of domain " + quote(message.domain()) +
                " it knows " + (known.empty() ? "none" : known) + " (docs/onnx.md)");
  }
  try {
    if (handle) {
      handle(node);
      count_work(node, message, frame);
    } else {
      node.set_all(add_function(*function, node, frame, node.tensors()));
    }
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::type_error)
      throw Error(ErrorKind::not_supported, where + ": WebNN refuses it").caused_by(error);
    if (error.kind() == ErrorKind::invalid_state || error.kind() == ErrorKind::out_of_memory) throw;
    const Error located(error.kind(), where + ": " + error.message());
    throw error.cause() ? located.caused_by(*error.cause()) : located;
  }
  for (const auto& name : message.output())
    if (!name.empty() && !frame.scope->find(name))
      unsupported(where + ": WebNN has no such output as " + quote(name));
}

void Importer::count_work(const Node& node, const proto::NodeProto& message, const Frame& frame) {
  if (builder.operator_count() - operators_before_ > max_operators)
    unsupported("the graph has more than " + std::to_string(max_operators) + " operators");
  if (frame.depth == 0) return;  // nodes of the file itself do not count
  // The work of a node with many operands counts once for each operand.
  const auto operands = static_cast<std::uint64_t>(message.input_size() + message.output_size());
  if (operands > 8) spend(operands / 4);
  const auto value_of = [&](const std::string& name) -> const Literal* {
    const auto* tensor = name.empty() ? nullptr : frame.scope->find(name);
    return tensor && tensor->literal ? &*tensor->literal : nullptr;
  };
  std::uint64_t made = 0;
  for (const auto& name : message.output()) {
    const auto* literal = value_of(name);
    const bool same = std::ranges::any_of(message.input(), [&](const auto& input) {
      const auto* given = value_of(input);
      return given && literal && given->owner == literal->owner;
    });
    if (literal && !same) made += to_walk_through(*literal);
  }
  if (made == 0) return;  // it read values, but did not calculate with them
  elements_seen_ += made + node.elements_read();
  if (elements_seen_ > max_elements_seen)
    unsupported("in bodies and functions, more than " + std::to_string(max_elements_seen) +
                " elements are calculated when it is imported");
}

void Importer::spend(std::uint64_t steps) {
  steps_ += steps;
  if (steps > max_steps || steps_ > max_steps)
    unsupported("unrolled, the model has more than " + std::to_string(max_steps) + " nodes");
}

void Importer::spend_bytes(std::uint64_t bytes) {
  bytes_ += std::min(bytes, max_calculated_bytes + 1);
  if (bytes_ > max_calculated_bytes)
    unsupported("what is calculated when it is imported takes more than " +
                std::to_string(max_calculated_bytes) + " bytes");
}

bool Importer::affords_bytes(std::uint64_t bytes) noexcept {
  // The other half is for calculations that the import needs.
  constexpr std::uint64_t most = max_calculated_bytes / 2;
  if (bytes_ >= most || bytes > most - bytes_) return false;
  bytes_ += bytes;
  return true;
}

std::string Importer::origin_of(const std::string& name) const {
  constexpr std::size_t most_named = 4;
  std::unordered_map<std::string, const proto::NodeProto*> makers;
  for (const auto* node : model_.body(model_.graph()).nodes)
    for (const auto& output : node->output()) makers.emplace(output, node);
  std::vector<std::string> found, next{name};
  std::unordered_set<std::string> seen{name};
  while (!next.empty()) {
    const auto tensor = std::move(next.back());
    next.pop_back();
    const auto maker = makers.find(tensor);
    if (maker != makers.end())
      each_read(*maker->second, [&](const std::string& read) {
        if (seen.insert(read).second) next.push_back(read);
      });
    const auto& inputs = model_.summary().inputs;
    if (std::ranges::find(inputs, tensor, &ValueInfo::name) != inputs.end() &&
        !options_.constants.contains(tensor))
      found.push_back(tensor);
  }
  if (found.empty() || found.front() == name) return {};
  std::ranges::sort(found);
  std::string text = found.size() == 1 ? "calculated from input " : "calculated from inputs ";
  for (std::size_t i = 0; i < found.size() && i < most_named; ++i)
    text += (i == 0 ? "" : ", ") + quote(found[i]);
  return found.size() > most_named ? text + ", ..." : text;
}

bool Importer::has_only_new_steps(const std::string& name) const {
  if (!options_.only_new_steps) return false;
  for (const auto* node : model_.body(model_.graph()).nodes)
    each_read(*node, [&](const std::string& read) {
      if (read == name)
        unsupported("new steps alone, as operator " + quote(node->op_type()) + " reads " +
                    quote(name));
    });
  return true;
}

void Importer::warn(const std::string& text) {
  if (!warnings_.insert(text).second) return;
  if (options_.on_warning) options_.on_warning(text);
  builder.context().log(LogLevel::warning, "import: " + text);
}

}  // namespace polychron::onnx::detail
