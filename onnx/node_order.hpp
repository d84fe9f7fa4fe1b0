// The order in which nodes can be carried out. ONNX asks for a file in such an order, and some
// converters do not keep to it.
#pragma once

#include <google/protobuf/repeated_field.h>

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "onnx/proto.hpp"

namespace polychron::onnx::detail {

/// Calls f(name) for all that a node reads: branches and bodies also read what is around them.
/// Names that a branch or body makes itself are not among these.
void each_read(const proto::NodeProto& node, const std::function<void(const std::string&)>& f);

/// The nodes of one list, each behind those that it reads from. As far as that leaves a choice, the
/// file's order stays: nodes that are in order already are not moved.
class NodeOrder {
 public:
  using Nodes = google::protobuf::RepeatedPtrField<proto::NodeProto>;
  /// Throws Error (bad_data) if nodes wait for each other, and names them.
  explicit NodeOrder(const Nodes& nodes);
  /// Of the nodes in the list.
  const std::vector<int>& indices() const noexcept { return indices_; }

 private:
  enum class Stage : char { untouched, waiting, done };
  /// A node whose sources are being put in order: `next` is the first that has not been.
  struct Visit {
    int node;
    std::vector<int> sources;
    std::size_t next = 0;
  };

  /// Puts a node and all that it reads from in order, without recursion: chains may be long.
  void put(int node);
  void begin(int node);
  [[noreturn]] void refuse_cycle(int node) const;

  const Nodes& nodes_;
  std::unordered_map<std::string, int> made_by_;
  std::vector<Stage> stages_;
  std::vector<Visit> visits_;
  std::vector<int> indices_;
};

}  // namespace polychron::onnx::detail
