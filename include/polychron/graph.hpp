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
  Graph() = default;
  explicit operator bool() const noexcept { return handle_ != nullptr; }

  const std::string& label() const;
  const NamedDescriptors& inputs() const;
  const NamedDescriptors& outputs() const;
  /// One line a step of the compiled plan: operators, implementation, shapes.
  const std::vector<std::string>& plan() const;
  /// Bytes that the plan keeps: prepared constants, and scratch memory (a lane each).
  std::size_t constant_bytes() const;
  std::size_t arena_bytes() const;

  /// Refuses new dispatches; those called before still run. Idempotent.
  void destroy();

  friend bool operator==(const Graph&, const Graph&) = default;

 private:
  friend struct detail::GraphHandle;
  explicit Graph(std::shared_ptr<detail::GraphHandle> handle) : handle_(std::move(handle)) {}
  std::shared_ptr<detail::GraphHandle> handle_;
};

}  // namespace polychron
