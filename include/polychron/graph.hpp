// Compiled graphs (WebNN: MLGraph).
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "polychron/descriptor.hpp"
#include "polychron/dimension.hpp"
#include "polychron/future.hpp"

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
  /// share it: a lane has as much as the largest graph that it ran lately. On other devices a lane
  /// allocates it when it first runs the graph.
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
  /// The inputs that a dispatch must provide. Of a graph with dynamic dimensions type_error: see
  /// dynamic_inputs().
  const NamedDescriptors& inputs() const;
  /// The outputs that a dispatch must provide tensors or buffers for. Of a graph with dynamic
  /// dimensions type_error: see dynamic_outputs().
  const NamedDescriptors& outputs() const;
  /// The compiled plan, one line for each step: operators, implementation, shapes. Empty for a
  /// graph with dynamic dimensions, which has a plan for each set of shapes.
  const std::vector<std::string>& plan() const;
  /// The memory that the graph takes; known before it first runs. With dynamic dimensions: of what
  /// is compiled now.
  GraphMemory memory() const;

  /// True if an input of the graph has a dynamic dimension. Then Context::dispatch() takes tensors
  /// of any shapes that fit. The graph is compiled for each set of shapes when it is first
  /// dispatched or prepared; the least recently used of BuildOptions::most_shapes goes. If the
  /// tensors do not fit, the outputs are errored: the error names the dimension.
  bool is_dynamic() const;
  /// The inputs with their dynamic dimensions; of any graph.
  NamedInputDescriptors dynamic_inputs() const;
  /// The outputs with their dynamic dimensions; of any graph.
  NamedInputDescriptors dynamic_outputs() const;
  /// The outputs' shapes for these shapes of all inputs, in order of declaration; compiles nothing.
  /// Throws type_error for names and shapes that do not fit, invalid_state (destroyed).
  NamedShapes compute_shapes(const NamedShapes& inputs) const;
  /// Compiles the graph for these shapes, unless that is done, so that the first dispatch need not
  /// wait for it. A graph without dynamic dimensions is prepared. Rejects as compute_shapes()
  /// throws, as build() does, and with quota_exceeded.
  Future<void> prepare(const NamedShapes& inputs) const;

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
