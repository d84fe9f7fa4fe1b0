// One import: the state that its nodes share, and the processing of lists of nodes.
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

/// The environment of nodes. Branches and bodies see the names around them; functions see only
/// their inputs and the attributes of the calling node.
struct Frame {
  std::int64_t opset = 0;
  Scope* scope = nullptr;
  const Node* caller = nullptr;
  std::size_t depth = 0;  ///< of branches, bodies and functions
};

/// One thread uses it, for one import. All work is bounded, also for hostile models. There are
/// limits for the nodes that repeated branches, bodies and functions add in total, for the
/// operators of the graph, and for the bytes calculated on the host. In bodies and functions there
/// is also a limit for elements read or made.
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

  /// Adds the nodes of the main graph, whose inputs are in `scope`.
  void add_main(Scope& scope);
  /// Adds the nodes of a branch or body; the outputs, in order. Throws if there are more inputs
  /// than it has; missing ones may come from the outer scope.
  std::vector<Tensor> add_graph(const proto::GraphProto& graph, const Frame& around,
                                std::vector<Tensor> inputs);
  std::vector<Tensor> add_function(const Function& function, const Node& caller,
                                   const Frame& around, std::vector<Tensor> inputs);

  /// Counts nodes that the file does not contain: unrolled or inlined ones. Throws at the limit.
  void spend(std::uint64_t steps);
  void spend_bytes(std::uint64_t bytes);
  /// Spends the bytes only if half of the budget remains afterwards: for optional calculations.
  bool affords_bytes(std::uint64_t bytes) noexcept;
  /// "calculated from input 'sr'": the model's inputs that tensor `name` of the main graph depends
  /// on. Empty if the tensor is an input itself, or depends on none.
  std::string origin_of(const std::string& name) const;
  /// True if output `name` of the main graph is to have the new steps alone:
  /// ImportOptions::only_new_steps. Throws if another node reads it.
  bool has_only_new_steps(const std::string& name) const;
  /// Warns of a deviation from the model, once for each text.
  void warn(const std::string& text);

 private:
  std::vector<Tensor> add_body(const Body& body, const Frame& frame, std::vector<Tensor> inputs);
  void add_node(const proto::NodeProto& message, const Frame& frame);
  /// Counts the work of a node's handler. Throws at the limits.
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
