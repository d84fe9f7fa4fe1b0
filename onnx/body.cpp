#include "onnx/body.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "onnx/constant_node.hpp"
#include "onnx/model.hpp"
#include "onnx/node_order.hpp"
#include "onnx/problem.hpp"
#include "onnx/tensor_data.hpp"

namespace polychron::onnx::detail {

namespace {

void take(Constants& constants, const std::string& name, Constant constant) {
  if (!constants.emplace(name, std::move(constant)).second)
    malformed("tensor " + quote(name) + " is given a value twice");
}

template <class Nodes>
void take_constants(Body& body, Nodes& nodes, ExternalData& external) {
  for (auto& node : nodes) {
    if (!is_constant(node)) continue;
    if (node.output_size() != 1) malformed("a Constant without exactly one output");
    const auto& name = node.output(0);
    take(body.constants, name, located("operator 'Constant' (output " + quote(name) + ")", [&] {
           if (node.attribute_size() != 1) malformed("exactly one attribute is expected");
           return take_constant(*node.mutable_attribute(0), external);
         }));
  }
}

template <class Nodes>
void find_live_nodes(Body& body, const Nodes& nodes) {
  const auto order = NodeOrder(nodes).indices();
  std::unordered_set<std::string> wanted(body.outputs.begin(), body.outputs.end());
  for (auto i = order.rbegin(); i != order.rend(); ++i) {
    const auto& node = nodes.Get(*i);
    const auto is_wanted = [&](const std::string& name) { return wanted.contains(name); };
    if (std::none_of(node.output().begin(), node.output().end(), is_wanted)) continue;
    if (is_constant(node)) continue;
    body.nodes.push_back(&node);
    each_read(node, [&](const std::string& name) { wanted.insert(name); });
  }
  std::reverse(body.nodes.begin(), body.nodes.end());
}

}  // namespace

bool is_constant(const proto::NodeProto& node) noexcept {
  if (node.op_type() != "Constant" || !own_domain(node.domain())) return false;
  return node.attribute_size() != 1 || node.attribute(0).ref_attr_name().empty();
}

Body make_body(proto::GraphProto& graph, ExternalData& external) {
  Body body;
  if (graph.sparse_initializer_size() > 0) unsupported("sparse initializers");
  for (auto& tensor : *graph.mutable_initializer()) {
    if (body.constants.contains(tensor.name()))
      malformed("initializer " + quote(tensor.name()) + " occurs twice");
    take(body.constants, tensor.name(), located("initializer " + quote(tensor.name()), [&] {
           return take_tensor(tensor, external);
         }));
  }
  take_constants(body, *graph.mutable_node(), external);
  for (const auto& input : graph.input()) body.inputs.push_back(input.name());
  for (const auto& output : graph.output()) body.outputs.push_back(output.name());
  find_live_nodes(body, graph.node());
  return body;
}

Body make_body(proto::FunctionProto& function, ExternalData& external) {
  Body body;
  take_constants(body, *function.mutable_node(), external);
  body.inputs.assign(function.input().begin(), function.input().end());
  body.outputs.assign(function.output().begin(), function.output().end());
  find_live_nodes(body, function.node());
  return body;
}

}  // namespace polychron::onnx::detail
