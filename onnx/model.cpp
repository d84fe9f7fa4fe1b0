#include "onnx/model.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <unordered_set>
#include <utility>

#include "onnx/constant_node.hpp"
#include "onnx/handlers.hpp"
#include "onnx/parse.hpp"
#include "onnx/problem.hpp"
#include "onnx/tensor_data.hpp"

namespace polychron::onnx {

namespace detail {

namespace {

constexpr std::int64_t oldest_opset = 9;
constexpr std::int64_t newest_opset = 21;

Dimension dimension_of(const proto::TensorShapeProto::Dimension& dimension) {
  if (!dimension.has_dim_value()) return {std::nullopt, dimension.dim_param()};
  if (dimension.dim_value() == -1) return {};  // how some exporters say that it is free
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

/// Runs `f`; what it throws gets a word about where.
template <class F>
auto located(const std::string& where, F&& f) {
  try {
    return f();
  } catch (const Error& error) {
    throw Error(error.kind(), where + ": " + error.message());
  }
}

}  // namespace

bool own_domain(const std::string& domain) noexcept {
  return domain.empty() || domain == "ai.onnx";
}

Model ModelState::make(std::unique_ptr<proto::ModelProto> message, ExternalData external) {
  const std::shared_ptr<ModelState> state(new ModelState(std::move(message)));
  if (!state->message_->has_graph()) malformed("not an ONNX model: it has no graph");
  state->check_opset();
  state->take_initializers(external);
  state->take_constants(external);
  state->describe_values();
  state->check_names();
  state->find_live_nodes();
  state->count_operators();
  return Model(state);
}

void ModelState::check_opset() {
  summary_.ir_version = message_->ir_version();
  summary_.producer = message_->producer_name();
  if (!message_->producer_version().empty())
    summary_.producer += " " + message_->producer_version();
  for (const auto& opset : message_->opset_import())
    if (own_domain(opset.domain())) summary_.opset = opset.version();
  if (summary_.opset < oldest_opset || summary_.opset > newest_opset)
    unsupported("opset " + std::to_string(summary_.opset) + ": " + std::to_string(oldest_opset) +
                " to " + std::to_string(newest_opset) + " are supported");
}

void ModelState::take_initializers(ExternalData& external) {
  auto& graph = *message_->mutable_graph();
  if (graph.sparse_initializer_size() > 0) unsupported("sparse initializers");
  summary_.graph_name = graph.name();
  for (auto& tensor : *graph.mutable_initializer()) {
    const auto where = "initializer " + quote(tensor.name());
    auto literal = located(where, [&] { return take_tensor(tensor, external); });
    summary_.initializer_bytes += literal.bytes.size();
    if (!constants_.emplace(tensor.name(), std::move(literal)).second)
      malformed(where + " occurs twice");
  }
  summary_.initializers = constants_.size();
}

void ModelState::take_constants(ExternalData& external) {
  for (auto& node : *message_->mutable_graph()->mutable_node()) {
    if (node.op_type() != "Constant" || !own_domain(node.domain())) continue;
    if (node.output_size() != 1) malformed("a Constant without exactly one output");
    const auto& name = node.output(0);
    auto literal = located("operator 'Constant' (output " + quote(name) + ")",
                           [&] { return take_constant(node, external); });
    summary_.initializers += 1;
    summary_.initializer_bytes += literal.bytes.size();
    if (!constants_.emplace(name, std::move(literal)).second)
      malformed("tensor " + quote(name) + " is given a value twice");
  }
}

void ModelState::describe_values() {
  const auto& graph = message_->graph();
  for (const auto& input : graph.input()) {
    // Up to IR version 3 every initializer is listed as an input as well.
    if (constants_.contains(input.name())) continue;
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
  for (const auto& [name, literal] : constants_) define(name);
  for (const auto& input : summary_.inputs) define(input.name);
  for (const auto& node : graph().node()) {
    for (const auto& name : node.input())
      if (!name.empty() && !known.contains(name))
        malformed("operator " + quote(node.op_type()) + " (node " + quote(node.name()) +
                  ") reads " + quote(name) + ", to which nothing before it gives a value");
    if (node.op_type() == "Constant" && own_domain(node.domain())) continue;
    for (const auto& name : node.output())
      if (!name.empty()) define(name);
  }
  if (summary_.outputs.empty()) malformed("the graph has no outputs");
  std::unordered_set<std::string> outputs;
  for (const auto& output : summary_.outputs) {
    if (!known.contains(output.name))
      malformed("nothing gives output " + quote(output.name) + " a value");
    if (!outputs.insert(output.name).second)
      malformed("output " + quote(output.name) + " occurs twice");
  }
}

void ModelState::find_live_nodes() {
  std::unordered_set<std::string> wanted;
  for (const auto& output : summary_.outputs) wanted.insert(output.name);
  for (auto i = graph().node_size(); i-- > 0;) {
    const auto& node = graph().node(i);
    const auto is_wanted = [&](const std::string& name) { return wanted.contains(name); };
    if (std::none_of(node.output().begin(), node.output().end(), is_wanted)) continue;
    if (node.op_type() == "Constant" && own_domain(node.domain())) continue;
    live_nodes_.push_back(&node);
    for (const auto& name : node.input())
      if (!name.empty()) wanted.insert(name);
  }
  std::reverse(live_nodes_.begin(), live_nodes_.end());
}

void ModelState::count_operators() {
  std::map<std::pair<std::string, std::string>, std::size_t> counts;
  for (const auto& node : graph().node())
    ++counts[{own_domain(node.domain()) ? "" : node.domain(), node.op_type()}];
  for (const auto& [key, count] : counts) {
    const auto& [domain, name] = key;
    const bool supported = domain.empty() && (name == "Constant" || find_handler(name) != nullptr);
    summary_.operators.push_back({domain, name, count, supported});
  }
  std::stable_sort(summary_.operators.begin(), summary_.operators.end(),
                   [](const auto& a, const auto& b) { return a.count > b.count; });
}

}  // namespace detail

const Summary& Model::summary() const noexcept { return state_->summary(); }

Model load(const std::filesystem::path& path) {
  return detail::located("model " + detail::quote(path.string()), [&] {
    return detail::ModelState::make(
        detail::parse_file(path),
        detail::ExternalData(std::filesystem::absolute(path).parent_path()));
  });
}

Model load(std::span<const std::byte> bytes, const std::filesystem::path& base_directory) {
  return detail::ModelState::make(detail::parse_bytes(bytes), detail::ExternalData(base_directory));
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
