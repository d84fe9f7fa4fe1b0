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
  /// Bytes of prepared constants that the plan keeps.
  std::size_t constant_bytes() const;
  /// Bytes of scratch memory that a run needs: each lane has as many.
  std::size_t arena_bytes() const;

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
