#include "runtime/builder_bridge.hpp"

#include "runtime/handles.hpp"

namespace polychron::detail {

void check_context_alive(const Context& context) { ContextHandle::of(context)->check_alive(); }

bool context_alive(const Context& context) {
  return !ContextHandle::of(context)->environment->lost->lost();
}

ops::ConstantBytes constant_tensor_bytes(const Context& context, const Tensor& tensor) {
  const auto& handle = *TensorHandle::of(tensor);
  handle.check_usable(ContextHandle::of(context));
  if (!handle.constant)
    throw Error(ErrorKind::type_error,
                "the tensor is not constant: make it with "
                "create_constant_tensor()")
        .with_object(handle.name());
  return handle.constant;
}

Future<Graph> submit_build(const Context& context, std::shared_ptr<const ops::Graph> graph,
                           const BuildOptions& options) {
  const auto& owner = ContextHandle::of(context);
  if (owner->environment->lost->lost())
    return rejected<Future<Graph>>(owner->environment->lost->error());
  auto handle = std::make_shared<GraphHandle>(owner, options.label);
  const auto built = owner->promise<msg::Built>();
  const auto reply = Promise<Graph>::make();
  auto future = reply.future();
  owner->send(msg::build{handle->id, std::move(graph), built});
  built.future().then([reply, handle = std::move(handle)](Result<msg::Built> result) mutable {
    if (!result) {
      reply.reject(result.error());
      return;
    }
    handle->built = std::move(*result);
    reply.resolve(GraphHandle::wrap(std::move(handle)));
  });
  return future;
}

}  // namespace polychron::detail
