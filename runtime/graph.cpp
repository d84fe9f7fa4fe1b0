#include "polychron/graph.hpp"

#include <algorithm>

#include "runtime/calls.hpp"
#include "runtime/dynamic_graph.hpp"

namespace polychron {

namespace detail {

const std::shared_ptr<GraphHandle>& GraphHandle::of(const Graph& graph) {
  if (!graph.handle_)
    refuse(ErrorKind::type_error, "this Graph refers to nothing: it was default-constructed");
  return graph.handle_;
}

void GraphHandle::destroy() {
  if (!destroyed.claim()) return;
  if (dynamic) dynamic->destroy();
  ending_->send();
}

}  // namespace detail

using detail::GraphHandle;

namespace {

const msg::Built& with_sizes(const GraphHandle& handle) {
  if (handle.dynamic)
    detail::refuse(ErrorKind::type_error, handle.name() + " has dynamic dimensions, expected " +
                                              "sizes: see dynamic_inputs(), dynamic_outputs()");
  return handle.built;
}

NamedInputDescriptors with_names(const NamedDescriptors& descriptors, const ops::Symbols& symbols) {
  NamedInputDescriptors named;
  for (const auto& [name, descriptor] : descriptors)
    named.push_back({name, {descriptor.data_type, symbols.dimensions(descriptor.shape)}});
  return named;
}

/// For a graph without dynamic dimensions: the outputs' shapes, if the inputs' are the graph's.
NamedShapes check_shapes(const msg::Built& built, const NamedShapes& inputs) {
  if (inputs.size() != built.inputs.size())
    throw Error(ErrorKind::type_error, "expected " + std::to_string(built.inputs.size()) +
                                           " inputs, got " + std::to_string(inputs.size()));
  for (const auto& [name, descriptor] : built.inputs) {
    const auto given = std::ranges::find(inputs, name, &NamedShapes::value_type::first);
    if (given == inputs.end())
      throw Error(ErrorKind::type_error, "input '" + name + "' is not given");
    if (given->second != descriptor.shape)
      throw Error(ErrorKind::type_error, "input '" + name + "' has shape " +
                                             to_string(given->second) + ", expected " +
                                             to_string(descriptor.shape));
  }
  NamedShapes shapes;
  for (const auto& [name, descriptor] : built.outputs) shapes.emplace_back(name, descriptor.shape);
  return shapes;
}

/// Throws what a call on a graph that is gone throws.
void check_usable(const GraphHandle& handle) {
  handle.context->check_alive();
  if (handle.destroyed.done())
    throw Error(ErrorKind::invalid_state, "the graph is destroyed").with_object(handle.name());
}

/// The call's errors name the graph.
template <class F>
auto about(const GraphHandle& handle, const char* operation, F call) -> decltype(call()) {
  return detail::with_errors([&] {
    try {
      check_usable(handle);
      return call();
    } catch (const Error& error) {
      throw error.with_operation(operation).with_object(handle.name());
    }
  });
}

}  // namespace

const std::string& Graph::label() const { return GraphHandle::of(*this)->label; }
const NamedDescriptors& Graph::inputs() const { return with_sizes(*GraphHandle::of(*this)).inputs; }
const NamedDescriptors& Graph::outputs() const {
  return with_sizes(*GraphHandle::of(*this)).outputs;
}
const std::vector<std::string>& Graph::plan() const { return GraphHandle::of(*this)->built.plan; }
GraphMemory Graph::memory() const {
  const auto& handle = *GraphHandle::of(*this);
  return handle.dynamic ? handle.dynamic->memory() : handle.built.memory;
}

bool Graph::is_dynamic() const { return GraphHandle::of(*this)->dynamic != nullptr; }
NamedInputDescriptors Graph::dynamic_inputs() const {
  const auto& handle = *GraphHandle::of(*this);
  if (!handle.dynamic) return with_names(handle.built.inputs, {});
  return with_names(handle.dynamic->inputs(), handle.dynamic->symbols());
}
NamedInputDescriptors Graph::dynamic_outputs() const {
  const auto& handle = *GraphHandle::of(*this);
  if (!handle.dynamic) return with_names(handle.built.outputs, {});
  return with_names(handle.dynamic->outputs(), handle.dynamic->symbols());
}

NamedShapes Graph::compute_shapes(const NamedShapes& inputs) const {
  const auto& handle = *GraphHandle::of(*this);
  return about(handle, "compute_shapes", [&] {
    return handle.dynamic ? handle.dynamic->compute_shapes(inputs)
                          : check_shapes(handle.built, inputs);
  });
}

Future<void> Graph::prepare(const NamedShapes& inputs) const {
  if (!handle_)
    return detail::rejected<Future<void>>(
        Error(ErrorKind::type_error, "this Graph refers to nothing: it was default-constructed"));
  const auto& handle = *handle_;
  return detail::rejecting(handle.context->port->origin(), [&] {
    return about(handle, "prepare", [&] {
      if (handle.dynamic) return handle.dynamic->prepare(inputs);
      static_cast<void>(check_shapes(handle.built, inputs));
      const auto reply = handle.context->promise<void>();
      reply.resolve();
      return reply.future();
    });
  });
}

void Graph::destroy() { GraphHandle::of(*this)->destroy(); }

}  // namespace polychron
