// A loaded model: checked once, then only read.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "onnx/external_data.hpp"
#include "onnx/literal.hpp"
#include "onnx/proto.hpp"
#include "polychron/onnx.hpp"

namespace polychron::onnx::detail {

/// What onnx::Model holds. Immutable after make().
///
/// Invariants, established by make(): the opset is supported; every tensor name is given a value
/// once; every node reads only names that the graph's inputs, `constants` or earlier nodes give a
/// value; so do the outputs. The messages hold no tensor data any more: it is in `constants`.
class ModelState {
 public:
  /// Checks `message` and takes its data. Throws Error (bad_data, not_supported).
  static Model make(std::unique_ptr<proto::ModelProto> message, ExternalData external);
  static const ModelState& of(const Model& model) noexcept { return *model.state_; }

  const Summary& summary() const noexcept { return summary_; }
  const proto::GraphProto& graph() const noexcept { return message_->graph(); }
  /// Initializers and the values of Constant nodes.
  const std::unordered_map<std::string, Literal>& constants() const noexcept { return constants_; }
  /// The nodes, without Constant, on which the outputs depend, in their order.
  const std::vector<const proto::NodeProto*>& live_nodes() const noexcept { return live_nodes_; }

 private:
  explicit ModelState(std::unique_ptr<proto::ModelProto> message) : message_(std::move(message)) {}
  void check_opset();
  void take_initializers(ExternalData& external);
  void take_constants(ExternalData& external);
  void describe_values();
  void check_names();
  void find_live_nodes();
  void count_operators();

  std::unique_ptr<proto::ModelProto> message_;
  Summary summary_;
  std::unordered_map<std::string, Literal> constants_;
  std::vector<const proto::NodeProto*> live_nodes_;
};

/// ONNX's own operators have the domain "" or "ai.onnx".
bool own_domain(const std::string& domain) noexcept;

}  // namespace polychron::onnx::detail
