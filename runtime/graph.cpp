#include "polychron/graph.hpp"

#include "runtime/handles.hpp"

namespace polychron {

namespace detail {

const std::shared_ptr<GraphHandle>& GraphHandle::of(const Graph& graph) {
  if (!graph.handle_)
    refuse(ErrorKind::type_error, "this Graph refers to nothing: it was default-constructed");
  return graph.handle_;
}

}  // namespace detail

using detail::GraphHandle;

const std::string& Graph::label() const { return GraphHandle::of(*this)->label; }
const NamedDescriptors& Graph::inputs() const { return GraphHandle::of(*this)->built.inputs; }
const NamedDescriptors& Graph::outputs() const { return GraphHandle::of(*this)->built.outputs; }
const std::vector<std::string>& Graph::plan() const { return GraphHandle::of(*this)->built.plan; }
GraphMemory Graph::memory() const { return GraphHandle::of(*this)->built.memory; }
void Graph::destroy() { GraphHandle::of(*this)->destroy(); }

}  // namespace polychron
