// Checks whether calls could have been made through the API, one after the other.
#pragma once

#include <map>
#include <vector>

#include "messages/call.hpp"
#include "observe/replay/script.hpp"

namespace polychron::replay {

/// The tensors and graphs that one context has been asked for.
class KnownObjects {
 public:
  /// Throws bad_data if nobody could have made `call`, which is call number `index`, after those
  /// before it. Notes which of these it needs.
  void check(const msg::Call& call, Call& recorded, std::size_t index);

 private:
  struct Tensor {
    std::uint64_t bytes = 0;
    std::size_t made = 0;  ///< by which call
  };
  struct Graph {
    std::vector<std::uint64_t> inputs, outputs;  ///< bytes
    std::size_t made = 0;
  };
  /// How many bytes it has, which `by` needs.
  std::uint64_t use(msg::TensorId tensor, Call& by) const;
  const Graph& use_graph(msg::GraphId graph, Call& by) const;

  std::map<msg::TensorId, Tensor> tensors_;
  std::map<msg::GraphId, Graph> graphs_;
  std::map<msg::LeaseId, std::size_t> leases_;
};

}  // namespace polychron::replay
