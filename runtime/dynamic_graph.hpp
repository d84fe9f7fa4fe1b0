// A graph with dynamic dimensions: its description with symbols, and what was compiled of it.
//
// Kernels never see a symbol. A set of shapes gives each symbol its size. Then the ordinary rules
// check the description once more, and the compiler gets one that has sizes alone. A dispatch of
// new shapes does not wait for that: its turn comes after the compiler is done (msg::Build::early).
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "ops/symbols.hpp"
#include "polychron/graph_builder.hpp"
#include "runtime/handles.hpp"

namespace polychron::detail {

/// Thread-safe. Its lock is held while a description is checked, never while anything waits.
class DynamicGraph : public std::enable_shared_from_this<DynamicGraph> {
 public:
  /// The graph for one set of shapes, which may still be with the compiler.
  struct Specialization {
    std::shared_ptr<GraphHandle> handle;
    NamedDescriptors inputs, outputs;
  };

  /// `constants` are the description's bytes of the budget.
  DynamicGraph(std::shared_ptr<ContextHandle> context,
               std::shared_ptr<const ops::Graph> description, ops::Symbols symbols,
               const BuildOptions& options, msg::Reservation constants);

  /// Inputs and outputs; their shapes have symbols.
  const NamedDescriptors& inputs() const noexcept { return inputs_; }
  const NamedDescriptors& outputs() const noexcept { return outputs_; }
  const ops::Symbols& symbols() const noexcept { return symbols_; }

  /// The graph for inputs of these shapes, in the order of inputs(). Throws type_error if they do
  /// not fit; the message names the dimension.
  std::shared_ptr<const Specialization> get(const std::vector<Shape>& inputs);
  /// As Graph::compute_shapes().
  NamedShapes compute_shapes(const NamedShapes& inputs) const;
  /// As Graph::prepare().
  Future<void> prepare(const NamedShapes& inputs);
  GraphMemory memory() const;
  /// Lets go of all that was compiled; dispatches that were called still run.
  void destroy() noexcept;

 private:
  /// A compiled graph, or one under way. The cache has it until it is the least recently used.
  struct Entry {
    std::vector<Shape> shapes;
    std::shared_ptr<const Specialization> graph;
    std::optional<Result<GraphMemory>> built;  ///< once the compiler is done
    std::vector<Promise<void>> waiting;        ///< until then
  };
  using Entries = std::list<std::shared_ptr<Entry>>;

  std::vector<Shape> in_order(const NamedShapes& shapes) const;
  /// The size of each symbol of an input.
  std::map<std::uint32_t, std::uint32_t> sizes_of(const std::vector<Shape>& inputs) const;
  /// The description with sizes alone.
  std::shared_ptr<const ops::Graph> describe(const std::vector<Shape>& inputs) const;
  struct Found {
    std::shared_ptr<Entry> entry;
    std::optional<Future<msg::Built>> started{};  ///< if it is new
  };
  /// With the lock: finds or makes it, and makes it the most recently used.
  Found find(const std::vector<Shape>& inputs, msg::Permit permit, Entries& dropped);
  /// Without the lock: it may be built already. Its handle lives until then, as a graph that is
  /// destroyed has been compiled.
  void watch(Found& found);
  /// With the lock. Drops the least recently used until at most `most` are left.
  void evict(std::size_t most, Entries& dropped);
  void built(const std::shared_ptr<Entry>& entry, const Result<msg::Built>& result) noexcept;

  const std::shared_ptr<ContextHandle> context_;
  const std::shared_ptr<const ops::Graph> description_;
  const ops::Symbols symbols_;
  const std::size_t most_;
  const msg::Reservation constants_;
  const Error destroyed_;  ///< made early, as the end must not allocate
  NamedDescriptors inputs_, outputs_;
  mutable std::mutex mutex_;
  Entries by_use_;  ///< the most recently used first
  std::map<std::vector<Shape>, Entries::iterator> entries_;
};

}  // namespace polychron::detail
