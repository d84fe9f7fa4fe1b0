#include "runtime/builder_bridge.hpp"

#include <set>

#include "runtime/calls.hpp"
#include "runtime/dynamic_graph.hpp"

namespace polychron::detail {

void check_context_alive(const Context& context) { ContextHandle::of(context)->check_alive(); }

bool has_dynamic_dimensions(const Context& context) { return ContextHandle::of(context)->dynamic; }

bool is_strict(const Context& context) { return ContextHandle::of(context)->strict; }

ops::ConstantBytes constant_tensor_bytes(const Context& context, const Tensor& tensor) {
  const auto& handle = *TensorHandle::of(tensor);
  handle.check_usable(ContextHandle::of(context));
  if (!handle.is_constant)
    throw Error(ErrorKind::type_error,
                "the tensor is not constant: make it with "
                "create_constant_tensor()")
        .with_object(handle.name());
  if (auto bytes = handle.constant.lock()) return bytes;
  handle.check_usable(ContextHandle::of(context));  // another thread may have destroyed it
  throw Error(ErrorKind::invalid_state, "the tensor is destroyed").with_object(handle.name());
}

namespace {

/// The bytes that a description adds to the budget; those of constant tensors count already.
std::uint64_t bytes_of(const ops::Graph& description) {
  std::set<const Buffer*> seen;
  std::uint64_t bytes = 0;
  for (const auto& value : description.values)
    if (value.constant && !value.counted && seen.insert(value.constant.get()).second)
      bytes += value.constant->size();
  return bytes;
}

/// Takes the bytes of the description's constants. Throws out_of_memory.
msg::Reservation reserve_constants(Port& port, const ops::Graph& graph) {
  const auto bytes = bytes_of(graph);
  auto reservation = port.reserve(bytes);
  if (!reservation)
    throw Error(ErrorKind::out_of_memory, "constants of " + describe_bytes(bytes) +
                                              " do not fit under the context's memory_limit of " +
                                              describe_bytes(port.memory_limit()))
        .with_operation("build", graph.label);
  return std::move(*reservation);
}

}  // namespace

Future<msg::Built> submit_early_build(const GraphHandle& handle,
                                      std::shared_ptr<const ops::Graph> graph, msg::Permit permit) {
  auto& port = *handle.context->port;
  const auto built = handle.context->promise<msg::Built>();
  auto settled = built.future();
  port.submit(
      msg::Build{handle.id, std::move(graph), true},
      {msg::BuildReply{built, std::make_shared<msg::Reservation>()}, std::move(permit), nullptr});
  msg::count(port.counters().builds);
  return settled;
}

Future<Graph> make_dynamic_graph(const Context& context, std::shared_ptr<const ops::Graph> graph,
                                 ops::Symbols symbols, const BuildOptions& options) {
  const auto& owner = ContextHandle::of(context);
  return rejecting(owner->port->origin(), [&] {
    owner->check_alive();
    auto constants = reserve_constants(*owner->port, *graph);
    auto handle = std::make_shared<GraphHandle>(owner, options.label);
    handle->dynamic = std::make_shared<DynamicGraph>(owner, std::move(graph), std::move(symbols),
                                                     options, std::move(constants));
    const auto reply = owner->promise<Graph>();
    reply.resolve(GraphHandle::wrap(std::move(handle)));
    return reply.future();
  });
}

Future<Graph> submit_build(const Context& context, std::shared_ptr<const ops::Graph> graph,
                           const BuildOptions& options) {
  const auto& owner = ContextHandle::of(context);
  auto& port = *owner->port;
  return rejecting(port.origin(), [&] {
    owner->check_alive();
    auto permit = port.enter(Port::AdmissionClass::operations, {});
    auto reservation = reserve_constants(port, *graph);
    auto handle = std::make_shared<GraphHandle>(owner, options.label);
    const auto built = owner->promise<msg::Built>();
    const auto reply = owner->promise<Graph>();
    auto settled = built.future();
    auto future = reply.future();
    port.submit(msg::Build{handle->id, std::move(graph)},
                {msg::BuildReply{built, std::make_shared<msg::Reservation>(std::move(reservation))},
                 std::move(permit), nullptr});
    msg::count(port.counters().builds);
    FutureAccess::relay(std::move(settled),
                        [reply, handle = std::move(handle)](Result<msg::Built> result) mutable {
                          if (!result) {
                            reply.reject(result.error());
                            return;
                          }
                          handle->built = std::move(*result);
                          reply.resolve(GraphHandle::wrap(std::move(handle)));
                        });
    return future;
  });
}

}  // namespace polychron::detail
