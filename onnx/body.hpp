// Lists of nodes: of the main graph, of branches and loop bodies, and of functions.
#pragma once

#include <string>
#include <vector>

#include "onnx/external_data.hpp"
#include "onnx/proto.hpp"
#include "onnx/scope.hpp"

namespace polychron::onnx::detail {

struct Body {
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  Constants constants;  ///< initializers, and the values of Constant nodes
  /// The nodes on which the outputs depend, each after its sources, without those in `constants`.
  std::vector<const proto::NodeProto*> nodes;
};

/// Takes the tensors out of the messages, which must outlive the body. Throws Error (bad_data,
/// not_supported); bad_data also if nodes form a cycle.
Body make_body(proto::GraphProto& graph, ExternalData& external);
Body make_body(proto::FunctionProto& function, ExternalData& external);

/// Calls f(graph) for the graphs of a node's attributes.
template <class Node, class F>
void each_graph(Node& node, F&& f) {
  for (int i = 0; i < node.attribute_size(); ++i) {
    const auto& attribute = node.attribute(i);
    if (!attribute.has_g() && attribute.graphs_size() == 0) continue;
    if constexpr (std::is_const_v<Node>) {
      if (attribute.has_g()) f(attribute.g());
      for (const auto& graph : attribute.graphs()) f(graph);
    } else {
      auto& changed = *node.mutable_attribute(i);
      if (changed.has_g()) f(*changed.mutable_g());
      for (auto& graph : *changed.mutable_graphs()) f(graph);
    }
  }
}

/// True for a Constant that contains its value, instead of referring to an attribute of a
/// function's caller.
bool is_constant(const proto::NodeProto& node) noexcept;

}  // namespace polychron::onnx::detail
