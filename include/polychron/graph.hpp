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

/// A graph's inputs or outputs: name and descriptor, in the order in which they were declared.
using NamedDescriptors = std::vector<std::pair<std::string, OperandDescriptor>>;

/// What a graph takes of the memory of its context's device, in bytes, and of
/// ContextOptions::memory_limit: known when it is built, and exact.
struct GraphMemory {
  /// Weights as kernels want them, and other constants: from the build on, for all lanes. Graphs of
  /// this process whose weights are alike, those of other contexts too, have them in memory once;
  /// each of them counts them.
  std::size_t constants = 0;
  /// Of one lane, for what is between inputs and outputs, and scratch memory of kernels: from the
  /// first dispatch on that the lane runs.
  std::size_t arena = 0;
  std::size_t lanes = 0;  ///< of the context
  /// When every lane has run it.
  std::size_t total() const noexcept { return constants + lanes * arena; }
};

/// Handle to a compiled graph. Copies are handles to the same graph; dropping the last one destroys
/// it. Thread-safe. A default-constructed handle refers to nothing and is refused by every call.
class Graph {
 public:
  /// A handle to nothing, which every call refuses (type_error).
  Graph() = default;
  /// False for a handle to nothing: default-constructed or moved away.
  explicit operator bool() const noexcept { return handle_ != nullptr; }

  /// BuildOptions::label.
  const std::string& label() const;
  /// What a dispatch has to give.
  const NamedDescriptors& inputs() const;
  /// What a dispatch has to take.
  const NamedDescriptors& outputs() const;
  /// One line a step of the compiled plan: operators, implementation, shapes.
  const std::vector<std::string>& plan() const;
  /// What it takes, before it has run.
  GraphMemory memory() const;

  /// Refuses new dispatches; those called before still run. Idempotent.
  void destroy();

  /// True for handles to the same graph, and for two to nothing.
  friend bool operator==(const Graph&, const Graph&) = default;

 private:
  friend struct detail::GraphHandle;
  explicit Graph(std::shared_ptr<detail::GraphHandle> handle) : handle_(std::move(handle)) {}
  std::shared_ptr<detail::GraphHandle> handle_;
};

}  // namespace polychron
