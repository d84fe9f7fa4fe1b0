// A loaded model: checked once, then read-only.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "onnx/body.hpp"
#include "onnx/external_data.hpp"
#include "onnx/parse.hpp"
#include "onnx/proto.hpp"
#include "polychron/onnx.hpp"

namespace polychron::onnx::detail {

/// A function of the model: an operator that the model defines in terms of others.
struct Function {
  Body body;
  std::int64_t opset = 0;  ///< opset of ONNX's own operators in it
};

/// The state of an onnx::Model. Immutable after make(), except that the first use reads constants
/// from files next to the model.
///
/// Invariants, established by make(): the opset is supported; every tensor name of the main graph
/// gets a value exactly once; nodes and outputs read only names of the graph's inputs, constants or
/// nodes; nodes form no cycle. The import checks the names that branches, bodies and functions
/// read. The messages contain no tensor data except in attributes: the bodies have it.
class ModelState {
 public:
  /// Checks `model` and takes its data; external data is below `directory` (see ExternalData).
  /// Throws Error (bad_data, not_supported).
  static Model make(ParsedModel model, const std::filesystem::path& directory);
  static const ModelState& of(const Model& model) noexcept { return *model.state_; }

  const Summary& summary() const noexcept { return summary_; }
  const proto::GraphProto& graph() const noexcept { return message_->graph(); }
  /// The nodes of the main graph, or of one in an attribute.
  const Body& body(const proto::GraphProto& graph) const { return bodies_.at(&graph); }
  /// nullptr if the model does not define such an operator.
  const Function* function(const std::string& domain, const std::string& name) const;

 private:
  explicit ModelState(std::unique_ptr<proto::ModelProto> message) : message_(std::move(message)) {}
  void check_opset();
  void take_bodies(proto::GraphProto& graph, ExternalData& external);
  void take_functions(ExternalData& external);
  void describe_values();
  void check_names();
  void count_operators();

  std::unique_ptr<proto::ModelProto> message_;
  Summary summary_;
  std::unordered_map<const proto::GraphProto*, Body> bodies_;
  std::map<std::pair<std::string, std::string>, Function> functions_;
};

/// ONNX's own operators have the domain "" or "ai.onnx".
bool own_domain(const std::string& domain) noexcept;

/// The version of ONNX's own operators that a list of imports tells; 0 if it tells none.
template <class Imports>
std::int64_t own_opset(const Imports& imports) {
  std::int64_t version = 0;
  for (const auto& import : imports)
    if (own_domain(import.domain())) version = import.version();
  return version;
}

}  // namespace polychron::onnx::detail
