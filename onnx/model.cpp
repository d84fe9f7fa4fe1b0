#include "onnx/model.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <unordered_set>
#include <utility>

#include "onnx/handlers.hpp"
#include "onnx/problem.hpp"

namespace polychron::onnx {

namespace detail {

namespace {

constexpr std::int64_t oldest_opset = 1;
// Later opsets may change the meaning of operators that have handlers.
constexpr std::int64_t newest_opset = 28;

/// Some exporters write these for a free dimension without a name: each is a dimension of its own.
bool is_nameless(const std::string& symbol) noexcept {
  return symbol == "?" || symbol == "-1" || symbol == "None";
}

Dimension dimension_of(const proto::TensorShapeProto::Dimension& dimension) {
  if (!dimension.has_dim_value())
    return {std::nullopt, is_nameless(dimension.dim_param()) ? "" : dimension.dim_param()};
  if (dimension.dim_value() == -1) return {};  // some exporters mark a free dimension like this
  if (!std::in_range<std::uint32_t>(dimension.dim_value()))
    malformed("a dimension of " + std::to_string(dimension.dim_value()));
  return {static_cast<std::uint32_t>(dimension.dim_value()), {}};
}

ValueInfo describe(const proto::ValueInfoProto& value) {
  ValueInfo info{value.name(), "not a tensor", std::nullopt, std::nullopt};
  if (!value.type().has_tensor_type()) return info;
  const auto& tensor = value.type().tensor_type();
  const auto type = static_cast<ElementType>(tensor.elem_type());
  info.type = to_string(type);
  info.data_type = operand_type(type);
  if (!tensor.has_shape()) return info;
  info.dimensions.emplace();
  for (const auto& dimension : tensor.shape().dim())
    info.dimensions->push_back(dimension_of(dimension));
  return info;
}

using OperatorCounts = std::map<std::pair<std::string, std::string>, std::size_t>;

/// Counts nodes in branches and bodies too.
void count_nodes(const google::protobuf::RepeatedPtrField<proto::NodeProto>& nodes,
                 OperatorCounts& counts) {
  for (const auto& node : nodes) {
    ++counts[{own_domain(node.domain()) ? "" : node.domain(), node.op_type()}];
    each_graph(node, [&](const proto::GraphProto& inner) { count_nodes(inner.node(), counts); });
  }
}

}  // namespace

bool own_domain(const std::string& domain) noexcept {
  return domain.empty() || domain == "ai.onnx";
}

Model ModelState::make(ParsedModel model, const std::filesystem::path& directory) {
  const std::shared_ptr<ModelState> state(new ModelState(std::move(model.message)));
  ExternalData external(directory, std::move(model.data), std::move(model.ranges));
  if (!state->message_->has_graph()) malformed("not an ONNX model: it has no graph");
  state->check_opset();
  state->take_bodies(*state->message_->mutable_graph(), external);
  state->take_functions(external);
  state->describe_values();
  state->check_names();
  state->count_operators();
  return Model(state);
}

void ModelState::check_opset() {
  summary_.ir_version = message_->ir_version();
  summary_.producer = message_->producer_name();
  if (!message_->producer_version().empty())
    summary_.producer += " " + message_->producer_version();
  summary_.opset = own_opset(message_->opset_import());
  // A model without ONNX's own operators need not declare their opset.
  const auto& imports = message_->opset_import();
  const bool others = std::none_of(imports.begin(), imports.end(),
                                   [](const auto& import) { return own_domain(import.domain()); });
  if (others && !imports.empty()) summary_.opset = newest_opset;
  if (summary_.opset < oldest_opset || summary_.opset > newest_opset)
    unsupported("opset " + std::to_string(summary_.opset) + ": " + std::to_string(oldest_opset) +
                " to " + std::to_string(newest_opset) + " are supported");
}

void ModelState::take_bodies(proto::GraphProto& graph, ExternalData& external) {
  auto body = make_body(graph, external);
  summary_.initializers += body.constants.size();
  for (const auto& [name, constant] : body.constants) summary_.initializer_bytes += constant.size();
  bodies_.emplace(&graph, std::move(body));
  for (auto& node : *graph.mutable_node())
    each_graph(node, [&](proto::GraphProto& inner) { take_bodies(inner, external); });
}

void ModelState::take_functions(ExternalData& external) {
  for (auto& message : *message_->mutable_functions()) {
    const auto where = "function " + quote(message.name());
    Function function;
    function.body = located(where, [&] { return make_body(message, external); });
    function.opset = own_opset(message.opset_import());
    if (function.opset == 0) function.opset = summary_.opset;
    for (auto& node : *message.mutable_node())
      each_graph(node, [&](proto::GraphProto& inner) { take_bodies(inner, external); });
    if (!functions_.emplace(std::pair(message.domain(), message.name()), std::move(function))
             .second)
      malformed(where + " occurs twice");
  }
}

const Function* ModelState::function(const std::string& domain, const std::string& name) const {
  const auto found = functions_.find({domain, name});
  return found == functions_.end() ? nullptr : &found->second;
}

void ModelState::describe_values() {
  const auto& graph = message_->graph();
  summary_.graph_name = graph.name();
  const auto& constants = body(graph).constants;
  for (const auto& input : graph.input()) {
    // Up to IR version 3 every initializer is listed as an input as well.
    if (constants.contains(input.name())) continue;
    summary_.inputs.push_back(
        located("input " + quote(input.name()), [&] { return describe(input); }));
  }
  for (const auto& output : graph.output())
    summary_.outputs.push_back(
        located("output " + quote(output.name()), [&] { return describe(output); }));
}

void ModelState::check_names() {
  std::unordered_set<std::string> known;
  const auto define = [&](const std::string& name) {
    if (name.empty()) malformed("a tensor without a name");
    if (!known.insert(name).second) malformed("tensor " + quote(name) + " is given a value twice");
  };
  for (const auto& [name, constant] : body(graph()).constants) define(name);
  for (const auto& input : summary_.inputs) define(input.name);
  for (const auto& node : graph().node()) {
    if (is_constant(node)) continue;
    for (const auto& name : node.output())
      if (!name.empty()) define(name);
  }
  for (const auto& node : graph().node())
    for (const auto& name : node.input())
      if (!name.empty() && !known.contains(name))
        malformed("operator " + quote(node.op_type()) + " (node " + quote(node.name()) +
                  ") reads " + quote(name) + ", to which nothing gives a value");
  if (summary_.outputs.empty()) malformed("the graph has no outputs");
  std::unordered_set<std::string> outputs;
  for (const auto& output : summary_.outputs) {
    if (!known.contains(output.name))
      malformed("nothing gives output " + quote(output.name) + " a value");
    if (!outputs.insert(output.name).second)
      malformed("output " + quote(output.name) + " occurs twice");
  }
}

void ModelState::count_operators() {
  OperatorCounts counts;
  count_nodes(graph().node(), counts);
  for (const auto& function : message_->functions()) count_nodes(function.node(), counts);
  for (const auto& [key, count] : counts) {
    const auto& [domain, name] = key;
    const bool supported = function(domain, name) || find_handler(domain, name);
    summary_.operators.push_back({domain, name, count, supported});
  }
  std::stable_sort(summary_.operators.begin(), summary_.operators.end(),
                   [](const auto& a, const auto& b) { return a.count > b.count; });
}

}  // namespace detail

const Summary& Model::summary() const noexcept { return state_->summary(); }

Model load(const std::filesystem::path& path) {
  return polychron::detail::with_errors([&] {
    return detail::located("model " + detail::quote(path.string()), [&] {
      return detail::ModelState::make(detail::parse_file(path), detail::folder_of(path));
    });
  });
}

Model load(std::span<const std::byte> bytes, const std::filesystem::path& base_directory) {
  return polychron::detail::with_errors(
      [&] { return detail::ModelState::make(detail::parse_bytes(bytes), base_directory); });
}

std::string to_string(const ValueInfo& info) {
  if (!info.dimensions) return info.type;
  std::string text = info.type + " [";
  for (const auto& dimension : *info.dimensions) {
    if (text.back() != '[') text += ", ";
    if (dimension.value) {
      text += std::to_string(*dimension.value);
    } else {
      text += dimension.symbol.empty() ? "?" : dimension.symbol;
    }
  }
  return text + "]";
}

}  // namespace polychron::onnx
