// Context's calls on tensors: check what never changes, then tell the context's actor.
#include <algorithm>

#include "ops/dimensions.hpp"
#include "polychron/context.hpp"
#include "runtime/calls.hpp"

namespace polychron {

namespace {

using actors::count;
using detail::ContextHandle;
using detail::rejecting;
using detail::reporting;
using detail::TensorHandle;

void check_descriptor(const OperandDescriptor& descriptor, const std::string& label) {
  if (const auto reason = ops::descriptor_problem(descriptor))
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
  const auto created = context->promise<void>();
  const auto reply = Promise<Tensor>::make();
  auto future = reply.future();
  context->send(msg::create_tensor{handle->id, descriptor.label, handle->bytes, created});
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

TensorHandle& check_readable(const std::shared_ptr<ContextHandle>& context, const Tensor& tensor) {
  auto& handle = *TensorHandle::of(tensor);
  handle.check_usable(context);
  if (!handle.descriptor.readable)
    throw Error(ErrorKind::type_error, "the tensor is not readable").with_object(handle.name());
  return handle;
}

/// Sends a write: `make_bytes` gives the bytes once they have been admitted.
template <class F>
void send_write(const std::shared_ptr<ContextHandle>& context, const TensorHandle& tensor,
                const WriteOptions& options, F make_bytes) {
  const auto& environment = *context->environment;
  auto payload = std::make_shared<msg::Payload>();
  payload->reservation = environment.admission->reserve(environment.budget, tensor.bytes);
  environment.admission->enter();
  payload->bytes = make_bytes();
  count(environment.counters->writes);
  context->send(msg::write_tensor{tensor.id, std::move(payload), options.label});
}

/// `buffer`: where the bytes go; an empty one if the device is to make one.
Future<msg::ReadReply> send_read(const std::shared_ptr<ContextHandle>& context,
                                 const TensorHandle& tensor, Buffer&& buffer) {
  const auto& environment = *context->environment;
  environment.admission->enter();
  count(environment.counters->reads);
  const auto reply = Promise<msg::ReadReply>::make();
  auto future = reply.future();
  context->send(msg::read_tensor{
      tensor.id,
      std::make_shared<msg::Read>("read", msg::ReadReply{std::move(buffer), std::nullopt}, reply,
                                  environment.lost)});
  return future;
}

}  // namespace

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
  reporting(context, [&] {
    const auto& handle = check_writable(context, tensor, bytes.size());
    send_write(context, handle, options, [&] {
      count(context->environment->counters->copies);
      count(context->environment->counters->copied_bytes, bytes.size());
      return Buffer::copy_of(bytes);
    });
  });
}

void Context::write_tensor(const Tensor& tensor, Buffer&& bytes, const WriteOptions& options) {
  const auto& context = ContextHandle::of(*this);
  reporting(context, [&] {
    static_cast<void>(bytes.data());  // a detached buffer is a type_error
    const auto& handle = check_writable(context, tensor, bytes.size());
    send_write(context, handle, options, [&] { return std::move(bytes); });
  });
}

Future<Buffer> Context::read_tensor(const Tensor& tensor) {
  return rejecting([&] {
    const auto& context = ContextHandle::of(*this);
    const auto& handle = check_readable(context, tensor);
    const auto promise = Promise<Buffer>::make();
    send_read(context, handle, {}).then([promise](Result<msg::ReadReply> reply) {
      auto& read = reply.value();  // a loan is always given back
      if (read.error)
        promise.reject(*read.error);
      else
        promise.resolve(std::move(read.buffer));
    });
    return promise.future();
  });
}

Future<ReadResult> Context::read_tensor(const Tensor& tensor, Buffer&& buffer) {
  const auto promise = Promise<ReadResult>::make();
  auto future = promise.future();
  try {
    static_cast<void>(buffer.data());  // a detached buffer is a type_error
    const auto& context = ContextHandle::of(*this);
    const auto& handle = check_readable(context, tensor);
    check_length(handle, buffer.size());
    send_read(context, handle, std::move(buffer)).then([promise](Result<msg::ReadReply> reply) {
      auto& read = reply.value();  // a loan is always given back
      promise.resolve(ReadResult{std::move(read.buffer),
                                 read.error ? Result<void>(*read.error) : Result<void>()});
    });
  } catch (const Error& error) {
    promise.resolve(ReadResult{std::move(buffer), error});
  }
  return future;
}

Future<void> Context::read_tensor(const Tensor& tensor, std::span<std::byte> destination) {
  return rejecting([&] {
    const auto& context = ContextHandle::of(*this);
    const auto& handle = check_readable(context, tensor);
    check_length(handle, destination.size());
    const auto promise = Promise<void>::make();
    send_read(context, handle, {})
        .then([promise, destination,
               counters = context->environment->counters](Result<msg::ReadReply> reply) {
          const auto& read = reply.value();  // a loan is always given back
          if (read.error) {
            promise.reject(*read.error);
          } else {
            std::ranges::copy(read.buffer.bytes(), destination.begin());
            count(counters->copies);
            count(counters->copied_bytes, destination.size());
            promise.resolve();
          }
        });
    return promise.future();
  });
}

Future<TensorLease> Context::export_tensor(const Tensor& tensor, LeaseMode mode) {
  return rejecting([&] {
    const auto& context = ContextHandle::of(*this);
    const auto& handle = TensorHandle::of(tensor);
    check_readable(context, tensor);
    check_writable(context, tensor, handle->bytes);
    auto lease = std::make_shared<detail::LeaseHandle>(handle, std::make_shared<msg::Lease>(mode));
    const auto granted = context->promise<void>();
    const auto reply = Promise<TensorLease>::make();
    count(context->environment->counters->exports);
    context->send(msg::lend_tensor{handle->id, lease->lease, granted});
    granted.future().then([reply, lease = std::move(lease)](Result<void> result) mutable {
      if (result)
        reply.resolve(TensorLease(std::move(lease)));
      else
        reply.reject(result.error());  // the handle goes, and with it the place in the timeline
    });
    return reply.future();
  });
}

void Context::check_view(const Tensor& tensor, DataType view) {
  const auto& handle = *TensorHandle::of(tensor);
  if (view != handle.descriptor.data_type && view != DataType::uint8)
    throw Error(ErrorKind::type_error, "a view of " + std::string(to_string(view)) +
                                           " cannot be written to " + to_string(handle.descriptor))
        .with_object(handle.name());
}

}  // namespace polychron
