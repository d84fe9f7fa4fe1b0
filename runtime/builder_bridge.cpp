#include "runtime/builder_bridge.hpp"

#include <set>

#include "runtime/calls.hpp"

namespace polychron::detail {

void check_context_alive(const Context& context) { ContextHandle::of(context)->check_alive(); }

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

}  // namespace

Future<Graph> submit_build(const Context& context, std::shared_ptr<const ops::Graph> graph,
                           const BuildOptions& options) {
  const auto& owner = ContextHandle::of(context);
  auto& port = *owner->port;
  return rejecting(port.origin(), [&] {
    owner->check_alive();
    auto permit = port.enter(Port::AdmissionClass::operations, {});
    const auto bytes = bytes_of(*graph);
    auto reservation = port.reserve(bytes);
    if (!reservation)
      throw Error(ErrorKind::out_of_memory, "constants of " + describe_bytes(bytes) +
                                                " do not fit under the context's memory_limit of " +
                                                describe_bytes(port.memory_limit()))
          .with_operation("build", options.label);
    auto handle = std::make_shared<GraphHandle>(owner, options.label);
    const auto built = owner->promise<msg::Built>();
    const auto reply = owner->promise<Graph>();
    auto settled = built.future();
    auto future = reply.future();
    port.submit(
        msg::Build{handle->id, std::move(graph)},
        {msg::BuildReply{built, std::make_shared<msg::Reservation>(std::move(*reservation))},
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
