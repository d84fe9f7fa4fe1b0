// One import: what its nodes share, and how lists of nodes are carried out.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "onnx/model.hpp"
#include "onnx/scope.hpp"
#include "polychron/graph_builder.hpp"

namespace polychron::onnx::detail {

class Node;

/// Where nodes stand: branches and bodies see the names around them, functions only their inputs
/// and the attributes of the node that calls them.
struct Frame {
  std::int64_t opset = 0;
  Scope* scope = nullptr;
  const Node* caller = nullptr;
  std::size_t depth = 0;  ///< of branches, bodies and functions
};

/// Used by one thread, for one import. Work is bounded whatever the model says: branches, bodies
/// and functions, entered again and again, may have so many nodes in all, the graph so many
/// operators, and what is calculated on the host so many bytes and, in bodies and functions, so
/// many elements that were looked at or made.
class Importer {
 public:
  static constexpr std::uint64_t max_steps = 200'000;
  static constexpr std::uint64_t max_operators = 500'000;
  static constexpr std::uint64_t max_calculated_bytes = std::uint64_t{1} << 30;
  static constexpr std::uint64_t max_elements_seen = std::uint64_t{1} << 27;
  static constexpr std::size_t max_depth = 64;

  Importer(const ModelState& model, GraphBuilder& graph_builder, const ImportOptions& options)
      : builder(graph_builder),
        model_(model),
        options_(options),
        operators_before_(builder.operator_count()) {}

  GraphBuilder& builder;

  /// Adds the nodes of the main graph, of which `scope` has the inputs.
  void add_main(Scope& scope);
  /// Adds the nodes of a branch or body; the outputs, in order. Throws if there are more inputs
  /// than it has; missing ones may stand around it.
  std::vector<Tensor> add_graph(const proto::GraphProto& graph, const Frame& around,
                                std::vector<Tensor> inputs);
  std::vector<Tensor> add_function(const Function& function, const Node& caller,
                                   const Frame& around, std::vector<Tensor> inputs);

  /// Counts nodes that the file does not have as such: unrolled, inlined. Throws at the limit.
  void spend(std::uint64_t steps);
  void spend_bytes(std::uint64_t bytes);
  /// Spends them if half of all is left after it: for what an import can do without.
  bool affords_bytes(std::uint64_t bytes) noexcept;
  /// "calculated from input 'sr'": the model's inputs that tensor `name` of the main graph depends
  /// on. Empty if it is one, or depends on none.
  std::string origin_of(const std::string& name) const;
  /// Tells about something that is not quite as the model says, once.
  void warn(const std::string& text);

 private:
  std::vector<Tensor> add_body(const Body& body, const Frame& frame, std::vector<Tensor> inputs);
  void add_node(const proto::NodeProto& message, const Frame& frame);
  /// What a node's handler did. Throws at the limits.
  void count_work(const Node& node, const proto::NodeProto& message, const Frame& frame);

  const ModelState& model_;
  const ImportOptions& options_;
  const std::size_t operators_before_;
  std::uint64_t steps_ = 0;
  std::uint64_t elements_seen_ = 0;
  std::uint64_t bytes_ = 0;
  std::set<std::string> warnings_;
};

}  // namespace polychron::onnx::detail
