// Sorts nodes so that each follows its sources. ONNX requires this order in a file, but some
// converters violate it.
#pragma once

#include <google/protobuf/repeated_field.h>

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "onnx/proto.hpp"

namespace polychron::onnx::detail {

/// Calls f(name) for all names that a node reads. Its branches and bodies also read names of the
/// outer scope; names that they define themselves are left out.
void each_read(const proto::NodeProto& node, const std::function<void(const std::string&)>& f);

/// The nodes of one list, each after its sources. The sort keeps the file's order where it can:
/// nodes that are in order already are not moved.
class NodeOrder {
 public:
  using Nodes = google::protobuf::RepeatedPtrField<proto::NodeProto>;
  /// Throws Error (bad_data) with the names if nodes form a cycle.
  explicit NodeOrder(const Nodes& nodes);
  /// The order, as indices into the list.
  const std::vector<int>& indices() const noexcept { return indices_; }

 private:
  enum class Stage : char { untouched, waiting, done };
  /// A node whose sources are being sorted; `next` is the first unsorted source.
  struct Visit {
    int node;
    std::vector<int> sources;
    std::size_t next = 0;
  };

  /// Sorts a node and its sources, without recursion, because chains may be long.
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
