// Compiled graphs (WebNN: MLGraph).
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "polychron/descriptor.hpp"

namespace polychron {

namespace detail {
struct GraphHandle;
}

/// The inputs or outputs of a graph: name and descriptor, in order of declaration.
using NamedDescriptors = std::vector<std::pair<std::string, OperandDescriptor>>;

/// The device memory of a graph, in bytes. It counts towards ContextOptions::memory_limit. The
/// numbers are exact, and known once the graph is built.
struct GraphMemory {
  /// Constants and weights, in the layout of the kernels: allocated by the build, shared by all
  /// lanes. Graphs of this process with equal weights share one copy in memory, even across
  /// contexts; each graph counts it in full.
  std::size_t constants = 0;
  /// Intermediate values and kernel scratch memory of one lane. On the CPU all graphs of a lane
  /// share it: a lane has as much as the largest graph that it ran lately, and gives it back when
  /// it has run nothing for 20 to 30 seconds. On other devices a lane allocates it when it first
  /// runs the graph.
  std::size_t arena = 0;
  std::size_t lanes = 0;  ///< number of the context's lanes
  /// The memory after every lane has run the graph, if it is the only one.
  std::size_t total() const noexcept { return constants + lanes * arena; }
};

/// Handle to a compiled graph. Copies are handles to the same graph; dropping the last one destroys
/// it. Thread-safe. A default-constructed handle refers to nothing: every call refuses it
/// (type_error).
class Graph {
 public:
  /// A handle to nothing, which every call refuses (type_error).
  Graph() = default;
  /// False for a handle to nothing: default-constructed or moved away.
  explicit operator bool() const noexcept { return handle_ != nullptr; }

  /// BuildOptions::label.
  const std::string& label() const;
  /// The inputs that a dispatch must provide.
  const NamedDescriptors& inputs() const;
  /// The outputs that a dispatch must provide tensors or buffers for.
  const NamedDescriptors& outputs() const;
  /// The compiled plan, one line for each step: operators, implementation, shapes.
  const std::vector<std::string>& plan() const;
  /// The memory that the graph takes; known before it first runs.
  GraphMemory memory() const;

  /// Refuses new dispatches; earlier ones still run. Idempotent.
  void destroy();

  /// True for two handles to the same graph, and for two handles to nothing.
  friend bool operator==(const Graph&, const Graph&) = default;

 private:
  friend struct detail::GraphHandle;
  explicit Graph(std::shared_ptr<detail::GraphHandle> handle) : handle_(std::move(handle)) {}
  std::shared_ptr<detail::GraphHandle> handle_;
};

}  // namespace polychron
