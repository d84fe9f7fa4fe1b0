#include "runtime/dynamic_graph.hpp"

#include <algorithm>

#include "base/invariant.hpp"
#include "ops/dimensions.hpp"
#include "ops/infer.hpp"
#include "ops/table.hpp"
#include "runtime/builder_bridge.hpp"
#include "runtime/calls.hpp"

namespace polychron::detail {

namespace {

[[noreturn]] void misfit(const std::string& why) { throw Error(ErrorKind::type_error, why); }

NamedDescriptors descriptors_of(const ops::Graph& graph,
                                const std::vector<std::pair<std::string, ops::ValueId>>& values) {
  NamedDescriptors descriptors;
  for (const auto& [name, value] : values)
    descriptors.emplace_back(name, graph.values[value].descriptor);
  return descriptors;
}

}  // namespace

DynamicGraph::DynamicGraph(std::shared_ptr<ContextHandle> context,
                           std::shared_ptr<const ops::Graph> description, ops::Symbols symbols,
                           const BuildOptions& options, msg::Reservation constants)
    : context_(std::move(context)),
      description_(std::move(description)),
      symbols_(std::move(symbols)),
      most_(options.most_shapes),
      constants_(std::move(constants)),
      destroyed_(ErrorKind::invalid_state, "the graph is destroyed"),
      inputs_(descriptors_of(*description_, description_->inputs)),
      outputs_(descriptors_of(*description_, description_->outputs)) {}

std::map<std::uint32_t, std::uint32_t> DynamicGraph::sizes_of(
    const std::vector<Shape>& inputs) const {
  ensure(inputs.size() == inputs_.size(), "each input has a shape");
  struct Bound {
    std::uint32_t size;
    const std::string* by;
  };
  std::map<std::uint32_t, Bound> bound;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto& [name, declared] = inputs_[i];
    if (ops::differ(declared.shape, inputs[i]))
      misfit("input '" + name + "' has shape " + to_string(inputs[i]) + ", expected " +
             to_string(symbols_.dimensions(declared.shape)));
    for (std::size_t axis = 0; axis < inputs[i].size(); ++axis) {
      const auto symbol = declared.shape[axis];
      if (!ops::is_symbol(symbol)) continue;
      const auto size = inputs[i][axis];
      const auto text = "dimension '" + symbols_.name(symbol) + "' is " + std::to_string(size) +
                        " in input '" + name + "', expected ";
      const auto max = symbols_.max(symbol);
      if (size > max.value_or(size)) misfit(text + "at most " + std::to_string(*max));
      const auto& first = bound.try_emplace(symbol, Bound{size, &name}).first->second;
      if (first.size != size)
        misfit(text + std::to_string(first.size) + " as in input '" + *first.by + "'");
    }
  }
  std::map<std::uint32_t, std::uint32_t> sizes;
  for (const auto& [symbol, first] : bound) sizes.emplace(symbol, first.size);
  return sizes;
}

std::shared_ptr<const ops::Graph> DynamicGraph::describe(const std::vector<Shape>& inputs) const {
  const auto sizes = sizes_of(inputs);
  auto all_sizes = sizes;  // also of what operators derive
  auto graph = std::make_shared<ops::Graph>(*description_);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    auto& descriptor = graph->values[graph->inputs[i].second].descriptor;
    descriptor.shape = inputs[i];
    if (const auto problem = ops::descriptor_problem(descriptor))
      misfit("input '" + graph->inputs[i].first + "': " + *problem);
  }
  try {
    for (auto& node : graph->nodes) {
      if (auto* const reshape = std::get_if<ReshapeAttributes>(&node.attributes))
        for (auto& size : reshape->new_shape)
          if (ops::is_symbol(size)) size = all_sizes.at(size);
      std::vector<const OperandDescriptor*> operands;
      for (const auto value : node.inputs)
        operands.push_back(value == ops::no_value ? nullptr : &graph->values[value].descriptor);
      auto results = ops::infer(ops::row(node.op), operands, node.attributes, node.label);
      ensure(results.size() == node.outputs.size(), "an operator's results do not depend on sizes");
      for (std::size_t i = 0; i < results.size(); ++i) {
        auto& descriptor = graph->values[node.outputs[i]].descriptor;
        for (std::size_t axis = 0; axis < results[i].shape.size(); ++axis)
          if (ops::is_symbol(descriptor.shape[axis]))
            all_sizes.emplace(descriptor.shape[axis], results[i].shape[axis]);
        descriptor = std::move(results[i]);
      }
    }
  } catch (const Error& error) {
    std::string where;
    for (const auto& [symbol, size] : sizes)
      where += (where.empty() ? ", where '" : " and '") + symbols_.name(symbol) + "' is " +
               std::to_string(size);
    throw Error(error.kind(), error.message() + where);
  }
  return graph;
}

DynamicGraph::Found DynamicGraph::find(const std::vector<Shape>& inputs, msg::Permit permit,
                                       Entries& dropped) {
  if (const auto known = entries_.find(inputs); known != entries_.end()) {
    by_use_.splice(by_use_.begin(), by_use_, known->second);
    return {by_use_.front()};
  }
  Found found{std::make_shared<Entry>()};
  const auto& entry = found.entry;
  auto graph = describe(inputs);
  entry->shapes = inputs;
  by_use_.push_front(entry);
  try {
    entries_.emplace(inputs, by_use_.begin());
    entry->graph = std::make_shared<Specialization>(Specialization{
        std::make_shared<GraphHandle>(context_, graph->label),
        descriptors_of(*graph, graph->inputs), descriptors_of(*graph, graph->outputs)});
    found.started = submit_early_build(*entry->graph->handle, std::move(graph), std::move(permit));
  } catch (...) {
    entries_.erase(inputs);
    by_use_.pop_front();
    throw;
  }
  evict(most_, dropped);
  return found;
}

void DynamicGraph::watch(Found& found) {
  if (!found.started) return;
  FutureAccess::relay(std::move(*found.started), [weak = weak_from_this(), entry = found.entry](
                                                     const Result<msg::Built>& result) {
    if (const auto self = weak.lock()) self->built(entry, result);
  });
}

std::shared_ptr<const DynamicGraph::Specialization> DynamicGraph::get(
    const std::vector<Shape>& inputs) {
  Entries dropped;  // as their graphs, they end after the lock is released
  Found found;
  {
    const std::lock_guard lock(mutex_);
    // The dispatch has a permit, and causes one build at most.
    found = find(inputs, {}, dropped);
  }
  watch(found);
  return found.entry->graph;
}

void DynamicGraph::evict(std::size_t most, Entries& dropped) {
  while (by_use_.size() > most) {
    entries_.erase(by_use_.back()->shapes);
    dropped.splice(dropped.end(), by_use_, std::prev(by_use_.end()));
  }
}

void DynamicGraph::built(const std::shared_ptr<Entry>& entry,
                         const Result<msg::Built>& result) noexcept {
  Entries dropped;
  std::vector<Promise<void>> waiting;
  {
    const std::lock_guard lock(mutex_);
    waiting.swap(entry->waiting);
    entry->built =
        result ? Result<GraphMemory>(result->memory) : Result<GraphMemory>(result.error());
    // A shortage may pass: the next dispatch of these shapes builds again, and finds more room.
    if (!result && result.error().root().kind() == ErrorKind::out_of_memory) evict(0, dropped);
  }
  for (const auto& reply : waiting)
    if (result)
      reply.resolve();
    else
      reply.reject(result.error());
}

std::vector<Shape> DynamicGraph::in_order(const NamedShapes& shapes) const {
  std::vector<Shape> ordered;
  for (const auto& input : inputs_) {
    const auto named = std::ranges::find(shapes, input.first, &NamedShapes::value_type::first);
    if (named == shapes.end()) misfit("input '" + input.first + "' is not given");
    ordered.push_back(named->second);
  }
  if (shapes.size() != inputs_.size())
    misfit("expected " + std::to_string(inputs_.size()) + " inputs, got " +
           std::to_string(shapes.size()));
  return ordered;
}

NamedShapes DynamicGraph::compute_shapes(const NamedShapes& inputs) const {
  const auto graph = describe(in_order(inputs));
  NamedShapes shapes;
  for (const auto& [name, value] : graph->outputs)
    shapes.emplace_back(name, graph->values[value].descriptor.shape);
  return shapes;
}

Future<void> DynamicGraph::prepare(const NamedShapes& inputs) {
  const auto ordered = in_order(inputs);
  auto permit = context_->port->enter(Port::AdmissionClass::operations, {});
  const auto reply = context_->promise<void>();
  auto future = reply.future();
  Entries dropped;
  Found found;
  std::optional<Result<GraphMemory>> there;
  {
    const std::lock_guard lock(mutex_);
    found = find(ordered, std::move(permit), dropped);
    there = found.entry->built;
    if (!there) found.entry->waiting.push_back(reply);
  }
  watch(found);
  if (there && *there) reply.resolve();
  if (there && !*there) reply.reject(there->error());
  return future;
}

GraphMemory DynamicGraph::memory() const {
  const std::lock_guard lock(mutex_);
  GraphMemory memory;
  for (const auto& entry : by_use_) {
    if (!entry->built || !*entry->built) continue;
    const auto& one = entry->built->value();
    // The graphs share their weights, and lanes share their arenas: the largest count.
    memory.constants = std::max(memory.constants, one.constants);
    memory.arena = std::max(memory.arena, one.arena);
    memory.lanes = one.lanes;
  }
  return memory;
}

void DynamicGraph::destroy() noexcept {
  Entries dropped;
  {
    const std::lock_guard lock(mutex_);
    entries_.clear();
    dropped.swap(by_use_);
  }
  for (const auto& entry : dropped) {
    std::vector<Promise<void>> waiting;
    {
      const std::lock_guard lock(mutex_);
      waiting.swap(entry->waiting);
    }
    for (const auto& reply : waiting) reply.reject(destroyed_);
  }
}

}  // namespace polychron::detail
