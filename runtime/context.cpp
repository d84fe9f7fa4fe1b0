// The calls of MLContext on the caller's side: check what never changes, then tell the context's
// actor.
#include "polychron/context.hpp"

#include <algorithm>

#include "runtime/handles.hpp"

namespace polychron {

namespace detail {

const std::shared_ptr<ContextHandle>& ContextHandle::of(const Context& context) {
  if (!context.handle_)
    throw Error(ErrorKind::type_error,
                "this Context refers to nothing: it was default-constructed");
  return context.handle_;
}

}  // namespace detail

namespace {

using detail::ContextHandle;
using detail::GraphHandle;
using detail::TensorHandle;

/// Runs `call`, which returns a Future; what it throws becomes the rejection: calls that promise a
/// reply never throw for the caller's mistakes (Web IDL's rule for promises).
template <class F>
auto rejecting(F call) -> decltype(call()) {
  try {
    return call();
  } catch (const Error& error) {
    return detail::rejected<decltype(call())>(error);
  }
}

void check_descriptor(const OperandDescriptor& descriptor, const std::string& label) {
  if (const auto reason = invalid_reason(descriptor))
    throw Error(ErrorKind::type_error, *reason)
        .with_object(label.empty() ? "tensor" : "tensor '" + label + "'");
}

void check_length(const TensorHandle& tensor, std::size_t bytes) {
  if (bytes != tensor.bytes)
    throw Error(ErrorKind::type_error, "expected " + std::to_string(tensor.bytes) + " bytes (" +
                                           to_string(tensor.descriptor) + "), got " +
                                           std::to_string(bytes))
        .with_object(tensor.name());
}

Future<Tensor> create(const std::shared_ptr<ContextHandle>& context,
                      const TensorDescriptor& descriptor) {
  check_descriptor(descriptor, descriptor.label);
  context->check_alive();
  auto handle = std::make_shared<TensorHandle>(context, descriptor);
  const auto created = Promise<void>::make();
  const auto reply = Promise<Tensor>::make();
  auto future = reply.future();
  context->send(msg::create_tensor{handle->id, descriptor.label, handle->bytes, {}, created});
  created.future().then([reply, handle = std::move(handle)](Result<void> result) mutable {
    if (result)
      reply.resolve(TensorHandle::wrap(std::move(handle)));
    else
      reply.reject(result.error());
  });
  return future;
}

Future<Tensor> create_constant(const std::shared_ptr<ContextHandle>& context,
                               const OperandDescriptor& descriptor, std::string label,
                               std::size_t size, auto make_bytes) {
  check_descriptor(descriptor, label);
  context->check_alive();
  const TensorDescriptor full{descriptor, false, false, std::move(label)};
  if (size != *byte_length(descriptor))
    throw Error(ErrorKind::type_error, "expected " + std::to_string(*byte_length(descriptor)) +
                                           " bytes (" + to_string(descriptor) + "), got " +
                                           std::to_string(size));
  auto bytes = std::make_shared<const Buffer>(make_bytes());
  auto handle = std::make_shared<TensorHandle>(context, full, std::move(bytes));
  const auto reply = Promise<Tensor>::make();
  auto future = reply.future();
  reply.resolve(TensorHandle::wrap(std::move(handle)));
  return future;
}

TensorHandle& check_writable(const std::shared_ptr<ContextHandle>& context, const Tensor& tensor,
                             std::size_t bytes) {
  auto& handle = *TensorHandle::of(tensor);
  handle.check_usable(context);
  if (!handle.descriptor.writable)
    throw Error(ErrorKind::type_error, "the tensor is not writable").with_object(handle.name());
  check_length(handle, bytes);
  return handle;
}

Error bind_error(const GraphHandle& graph, const DispatchOptions& options, std::string message) {
  return Error(ErrorKind::type_error, std::move(message))
      .with_operation("dispatch", options.label)
      .with_object(graph.name());
}

/// The ids of `tensors` in the order of the graph's inputs or outputs (`side`).
msg::TensorIds bind(const std::shared_ptr<ContextHandle>& context, const GraphHandle& graph,
                    const char* side, const NamedDescriptors& declared, const NamedTensors& tensors,
                    const DispatchOptions& options) {
  if (tensors.size() != declared.size())
    throw bind_error(graph, options,
                     "expected " + std::to_string(declared.size()) + " " + side + "s, got " +
                         std::to_string(tensors.size()));
  msg::TensorIds ids;
  for (const auto& [name, descriptor] : declared) {
    // Few names: a scan beats a table.
    const auto named = std::find_if(tensors.begin(), tensors.end(),
                                    [&](const auto& entry) { return entry.first == name; });
    if (named == tensors.end())
      throw bind_error(graph, options, std::string(side) + " '" + name + "' is not given");
    const auto& tensor = *TensorHandle::of(named->second);
    tensor.check_usable(context);
    if (tensor.constant)
      throw bind_error(graph, options, tensor.name() + " is constant: give it to a GraphBuilder");
    if (static_cast<const OperandDescriptor&>(tensor.descriptor) != descriptor)
      throw bind_error(graph, options,
                       std::string(side) + " '" + name + "' is " + to_string(descriptor) +
                           ", but " + tensor.name() + " is " + to_string(tensor.descriptor));
    ids.push_back(tensor.id);
  }
  return ids;
}

void check_distinct(const GraphHandle& graph, const DispatchOptions& options,
                    const msg::TensorIds& inputs, const msg::TensorIds& outputs) {
  boost::container::small_vector<msg::TensorId, 8> all(inputs.begin(), inputs.end());
  all.insert(all.end(), outputs.begin(), outputs.end());
  std::sort(all.begin(), all.end());
  const auto twice = std::adjacent_find(all.begin(), all.end());
  if (twice != all.end())
    throw bind_error(graph, options, "tensor #" + std::to_string(*twice) + " is given twice");
}

}  // namespace

std::string_view to_string(LostReason reason) noexcept {
  switch (reason) {
    case LostReason::destroyed:
      return "destroyed";
    case LostReason::device_failed:
      return "device_failed";
    case LostReason::out_of_memory:
      return "out_of_memory";
    case LostReason::runtime_shutdown:
      return "runtime_shutdown";
  }
  return "unknown";
}

const std::string& Context::label() const { return ContextHandle::of(*this)->environment->label; }

Future<Tensor> Context::create_tensor(const TensorDescriptor& descriptor) {
  return rejecting([&] { return create(ContextHandle::of(*this), descriptor); });
}

Future<Tensor> Context::create_constant_tensor(const OperandDescriptor& descriptor,
                                               std::span<const std::byte> bytes,
                                               std::string label) {
  return rejecting([&] {
    return create_constant(ContextHandle::of(*this), descriptor, std::move(label), bytes.size(),
                           [&] { return Buffer::copy_of(bytes); });
  });
}

Future<Tensor> Context::create_constant_tensor(const OperandDescriptor& descriptor, Buffer&& bytes,
                                               std::string label) {
  return rejecting([&] {
    static_cast<void>(bytes.data());  // a detached buffer is a type_error
    return create_constant(ContextHandle::of(*this), descriptor, std::move(label), bytes.size(),
                           [&] { return std::move(bytes); });
  });
}

void Context::write_tensor(const Tensor& tensor, std::span<const std::byte> bytes,
                           const WriteOptions& options) {
  const auto& context = ContextHandle::of(*this);
  const auto& handle = check_writable(context, tensor, bytes.size());
  context->send(msg::write_tensor{handle.id, std::make_shared<Buffer>(Buffer::copy_of(bytes)),
                                  options.label});
}

void Context::write_tensor(const Tensor& tensor, Buffer&& bytes, const WriteOptions& options) {
  const auto& context = ContextHandle::of(*this);
  static_cast<void>(bytes.data());  // a detached buffer is a type_error
  const auto& handle = check_writable(context, tensor, bytes.size());
  context->send(
      msg::write_tensor{handle.id, std::make_shared<Buffer>(std::move(bytes)), options.label});
}

Future<Buffer> Context::read_tensor(const Tensor& tensor) {
  return rejecting([&] {
    const auto& context = ContextHandle::of(*this);
    const auto& handle = *TensorHandle::of(tensor);
    handle.check_usable(context);
    if (!handle.descriptor.readable)
      throw Error(ErrorKind::type_error, "the tensor is not readable").with_object(handle.name());
    const auto reply = Promise<Buffer>::make();
    auto future = reply.future();
    context->send(msg::read_tensor{handle.id, reply});
    return future;
  });
}

void Context::dispatch(const Graph& graph, const NamedTensors& inputs, const NamedTensors& outputs,
                       const DispatchOptions& options) {
  const auto& context = ContextHandle::of(*this);
  const auto& handle = *GraphHandle::of(graph);
  if (handle.context != context)
    throw bind_error(handle, options, "the graph belongs to another context");
  context->check_alive();
  if (handle.destroyed)
    throw Error(ErrorKind::invalid_state, "the graph is destroyed")
        .with_operation("dispatch", options.label)
        .with_object(handle.name());
  auto input_ids = bind(context, handle, "input", handle.built.inputs, inputs, options);
  auto output_ids = bind(context, handle, "output", handle.built.outputs, outputs, options);
  check_distinct(handle, options, input_ids, output_ids);
  context->send(
      msg::dispatch{handle.id, std::move(input_ids), std::move(output_ids), options.label});
}

void Context::destroy() {
  const auto& context = ContextHandle::of(*this);
  // Resolved here, so that this thread's next call already sees it.
  context->environment->lost->resolve({LostReason::destroyed, "the context was destroyed"});
  context->send(msg::destroy_context{});
}

Future<LostInfo> Context::lost() const {
  return ContextHandle::of(*this)->environment->lost->watch();
}

void Context::check_view(const Tensor& tensor, DataType view) {
  const auto& handle = *TensorHandle::of(tensor);
  if (view != handle.descriptor.data_type && view != DataType::uint8)
    throw Error(ErrorKind::type_error, "a view of " + std::string(to_string(view)) +
                                           " cannot be written to " + to_string(handle.descriptor))
        .with_object(handle.name());
}

}  // namespace polychron
