#include "onnx/node_order.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "onnx/body.hpp"
#include "onnx/problem.hpp"

namespace polychron::onnx::detail {

void each_read(const proto::NodeProto& node, const std::function<void(const std::string&)>& f) {
  for (const auto& name : node.input())
    if (!name.empty()) f(name);
  each_graph(node, [&](const proto::GraphProto& graph) {
    std::unordered_set<std::string> own;
    for (const auto& input : graph.input()) own.insert(input.name());
    for (const auto& tensor : graph.initializer()) own.insert(tensor.name());
    for (const auto& inner : graph.node()) own.insert(inner.output().begin(), inner.output().end());
    const auto read = [&](const std::string& name) {
      if (!own.contains(name)) f(name);
    };
    for (const auto& inner : graph.node()) each_read(inner, read);
    for (const auto& output : graph.output()) read(output.name());
  });
}

NodeOrder::NodeOrder(const Nodes& nodes)
    : nodes_(nodes), stages_(static_cast<std::size_t>(nodes.size()), Stage::untouched) {
  for (int i = 0; i < nodes.size(); ++i)
    for (const auto& name : nodes.Get(i).output())
      if (!name.empty()) made_by_.emplace(name, i);
  indices_.reserve(stages_.size());
  for (int i = 0; i < nodes.size(); ++i) put(i);
}

void NodeOrder::begin(int node) {
  stages_[static_cast<std::size_t>(node)] = Stage::waiting;
  Visit visit{node, {}};
  each_read(nodes_.Get(node), [&](const std::string& name) {
    const auto maker = made_by_.find(name);
    if (maker != made_by_.end()) visit.sources.push_back(maker->second);
  });
  visits_.push_back(std::move(visit));
}

void NodeOrder::put(int node) {
  if (stages_[static_cast<std::size_t>(node)] == Stage::done) return;
  begin(node);
  while (!visits_.empty()) {
    auto& visit = visits_.back();
    if (visit.next == visit.sources.size()) {
      stages_[static_cast<std::size_t>(visit.node)] = Stage::done;
      indices_.push_back(visit.node);
      visits_.pop_back();
      continue;
    }
    const int source = visit.sources[visit.next++];
    const auto stage = stages_[static_cast<std::size_t>(source)];
    if (stage == Stage::waiting) refuse_cycle(source);
    if (stage == Stage::untouched) begin(source);
  }
}

/// The visits from `node`'s on form a cycle.
void NodeOrder::refuse_cycle(int node) const {
  constexpr std::size_t most_named = 8;
  auto visit = std::ranges::find(visits_, node, &Visit::node);
  std::string text;
  for (std::size_t named = 0; visit != visits_.end() && named < most_named; ++visit, ++named) {
    const auto& message = nodes_.Get(visit->node);
    const auto& name =
        message.name().empty() && message.output_size() > 0 ? message.output(0) : message.name();
    text += (text.empty() ? "operator " : ", which reads from ") + quote(message.op_type()) +
            " (node " + quote(name) + ")";
  }
  malformed("a cycle: " + text +
            (visit == visits_.end() ? ", which reads from the first" : ", ..."));
}

}  // namespace polychron::onnx::detail
