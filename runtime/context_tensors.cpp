// Context's calls on tensors: check what never changes, then tell the context's actor.
#include <algorithm>
#include <utility>

#include "base/aligned.hpp"
#include "ops/dimensions.hpp"
#include "polychron/context.hpp"
#include "runtime/calls.hpp"

namespace polychron {

namespace {

using detail::conditions_of;
using detail::ContextHandle;
using detail::FutureAccess;
using detail::Port;
using detail::rejecting;
using detail::reporting;
using detail::TensorHandle;

void check_descriptor(const ContextHandle& context, const OperandDescriptor& descriptor,
                      const std::string& label) {
  if (const auto reason = ops::descriptor_problem(descriptor, context.strict))
    throw Error(ErrorKind::type_error, *reason)
        .with_object(label.empty() ? "tensor" : "tensor '" + label + "'");
}

void check_length(const TensorHandle& tensor, std::size_t bytes) {
  if (bytes != tensor.bytes())
    throw Error(ErrorKind::type_error, "expected " + std::to_string(tensor.bytes()) + " bytes (" +
                                           to_string(tensor.descriptor) + "), got " +
                                           std::to_string(bytes))
        .with_object(tensor.name());
}

/// Submits the creation of a tensor, of zeros or of constant bytes.
Future<Tensor> create(const std::shared_ptr<ContextHandle>& context,
                      const TensorDescriptor& descriptor, const ops::ConstantBytes& constant,
                      msg::PayloadRef payload, msg::Permit permit) {
  auto handle = std::make_shared<TensorHandle>(context, descriptor, constant);
  const auto created = context->promise<void>();
  const auto reply = context->promise<Tensor>();
  auto future = reply.future();
  auto settled = created.future();
  msg::CreateTensor call{handle->id, descriptor.label, handle->bytes(), std::move(payload)};
  FutureAccess::relay(std::move(settled),
                      [reply, handle = std::move(handle)](Result<void> result) mutable {
                        if (result)
                          reply.resolve(TensorHandle::wrap(std::move(handle)));
                        else
                          reply.reject(result.error());
                      });
  context->port->submit(std::move(call), {std::move(created), std::move(permit), nullptr});
  return future;
}

Future<Tensor> create_constant(const std::shared_ptr<ContextHandle>& context,
                               const OperandDescriptor& descriptor, std::string label,
                               std::size_t size, auto make_bytes, auto give_back) {
  check_descriptor(*context, descriptor, label);
  context->check_alive();
  const TensorDescriptor full{descriptor, false, false, std::move(label)};
  if (size != *byte_length(descriptor))
    throw Error(ErrorKind::type_error, "expected " + std::to_string(*byte_length(descriptor)) +
                                           " bytes (" + to_string(descriptor) + "), got " +
                                           std::to_string(size));
  auto permit = context->port->enter(Port::AdmissionClass::operations, {});
  auto reservation = context->port->reserve(size);
  if (!reservation)
    throw Error(ErrorKind::out_of_memory, describe_bytes(size) +
                                              " do not fit under the context's memory_limit of " +
                                              describe_bytes(context->port->memory_limit()))
        .with_operation("create_constant_tensor", full.label);
  // The tensor owns the bytes, and so do builders until they have compiled; the last one frees
  // them.
  const auto kept =
      std::make_shared<msg::CountedBytes>(msg::CountedBytes{Buffer(), std::move(*reservation)});
  const ops::ConstantBytes bytes(kept, &kept->bytes);
  auto payload = std::make_shared<msg::Payload>(bytes);
  kept->bytes = make_bytes();
  try {
    return create(context, full, bytes, std::move(payload), std::move(permit));
  } catch (...) {
    give_back(kept->bytes);
    throw;
  }
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

/// Submits a write of `bytes`. Once admitted, `take` copies or moves them into the library;
/// `give_back` returns them if the write cannot be submitted.
void write(const std::shared_ptr<ContextHandle>& context, const TensorHandle& tensor,
           std::span<const std::byte> bytes, const WriteOptions& options, auto take,
           auto give_back) {
  auto& port = *context->port;
  const auto conditions = conditions_of(options);
  auto permit = port.enter(Port::AdmissionClass::operations, conditions);
  auto reservation = port.reserve(tensor.bytes());
  std::shared_ptr<msg::Rendezvous> rendezvous;
  msg::PayloadRef payload;
  if (reservation) {
    payload = std::make_shared<msg::Payload>(Buffer(), std::move(*reservation));
    payload->bytes = take();
  } else if (port.may_wait()) {
    // A copy does not fit the budget: the device copies the bytes directly into the tensor's
    // memory, while the caller waits.
    rendezvous = std::make_shared<msg::Rendezvous>(bytes);
    payload = std::make_shared<msg::Payload>(rendezvous, port.origin());
  } else {
    throw Error(ErrorKind::quota_exceeded, describe_bytes(tensor.bytes()) +
                                               " do not fit under the context's memory_limit of " +
                                               describe_bytes(port.memory_limit()) +
                                               " while other operations are in flight")
        .with_operation("write", options.label)
        .with_object(tensor.name());
  }
  msg::count(port.counters().writes);
  try {
    port.submit(msg::WriteTensor{tensor.id, payload, options.label, options.deadline},
                {{}, std::move(permit), conditions.cancellation});
  } catch (...) {
    give_back(payload->bytes);
    throw;
  }
  if (!rendezvous) return;
  // From here on only the message owns it: dropping the message tells the caller.
  payload.reset();
  msg::count(port.counters().copies);
  msg::count(port.counters().copied_bytes, bytes.size());
  if (auto error = port.meet(*rendezvous, conditions))
    throw error->with_operation("write", options.label).with_object(tensor.name());
}

/// Submits a read, whose reply goes to `relay`. The bytes go to `buffer`; if it is empty, the
/// device makes one.
void submit_read(const std::shared_ptr<ContextHandle>& context, const TensorHandle& tensor,
                 Buffer& buffer, auto relay) {
  auto& port = *context->port;
  auto permit = port.enter(Port::AdmissionClass::operations, {});
  // Steps that may fail come first: if one throws, the caller keeps the buffer.
  auto reply = context->promise<msg::ReadReply>();
  auto settled = reply.future();
  const auto loan = std::make_shared<msg::ReadRef::element_type>(msg::ReadReply{}, std::move(reply),
                                                                 port.origin());
  FutureAccess::relay(std::move(settled), std::move(relay));
  loan->content.buffer = std::move(buffer);
  msg::count(port.counters().reads);
  try {
    port.submit(msg::ReadTensor{tensor.id}, {loan, std::move(permit), nullptr});
  } catch (const Error& error) {
    if (loan->claim()) loan->answer(error);
  }
}

}  // namespace

Future<Tensor> Context::create_tensor_with(const TensorDescriptor& descriptor) {
  const auto& context = ContextHandle::of(*this);
  return rejecting(context->port->origin(), [&] {
    check_descriptor(*context, descriptor, descriptor.label);
    context->check_alive();
    auto permit = context->port->enter(Port::AdmissionClass::operations, {});
    return create(context, descriptor, nullptr, nullptr, std::move(permit));
  });
}

Future<Tensor> Context::create_constant_with(const OperandDescriptor& descriptor,
                                             std::span<const std::byte> bytes, std::string label) {
  const auto& context = ContextHandle::of(*this);
  return rejecting(context->port->origin(), [&] {
    return create_constant(
        context, descriptor, std::move(label), bytes.size(), [&] { return Buffer::copy_of(bytes); },
        [](Buffer&) {});
  });
}

Future<Tensor> Context::create_constant_with(const OperandDescriptor& descriptor, Buffer&& bytes,
                                             std::string label) {
  const auto& context = ContextHandle::of(*this);
  return rejecting(context->port->origin(), [&] {
    const auto view = std::as_const(bytes).bytes();  // a detached buffer is a type_error
    const bool usable = aligned_for(descriptor.data_type, view);
    auto future = create_constant(
        context, descriptor, std::move(label), bytes.size(),
        [&] { return usable ? std::move(bytes) : Buffer::copy_of(view); },
        [&](Buffer& back) {
          if (bytes.detached()) bytes = std::move(back);
        });
    // Detach the buffer even if its bytes were copied.
    if (!bytes.detached()) static_cast<void>(Buffer(std::move(bytes)));
    return future;
  });
}

void Context::write_tensor(const Tensor& tensor, std::span<const std::byte> bytes,
                           const WriteOptions& options) {
  const auto& context = ContextHandle::of(*this);
  reporting(context, [&] {
    const auto& handle = check_writable(context, tensor, bytes.size());
    const auto copy = [&] {
      auto made = Buffer::copy_of(bytes);
      msg::count(context->port->counters().copies);
      msg::count(context->port->counters().copied_bytes, bytes.size());
      return made;
    };
    write(context, handle, bytes, options, copy, [](Buffer&) {});
  });
}

void Context::write_tensor(const Tensor& tensor, Buffer&& bytes, const WriteOptions& options) {
  const auto& context = ContextHandle::of(*this);
  reporting(context, [&] {
    const auto view = std::as_const(bytes).bytes();  // a detached buffer is a type_error
    const auto& handle = check_writable(context, tensor, bytes.size());
    write(
        context, handle, view, options, [&] { return std::move(bytes); },
        [&](Buffer& back) {
          if (bytes.detached()) bytes = std::move(back);
        });
    // Detach the buffer even if the device copied the bytes directly.
    if (!bytes.detached()) static_cast<void>(Buffer(std::move(bytes)));
  });
}

Future<Buffer> Context::read_tensor(const Tensor& tensor) {
  const auto& context = ContextHandle::of(*this);
  return rejecting(context->port->origin(), [&] {
    const auto& handle = check_readable(context, tensor);
    const auto promise = context->promise<Buffer>();
    auto future = promise.future();
    Buffer none;
    submit_read(context, handle, none, [promise](Result<msg::ReadReply> reply) {
      auto& read = reply.value();  // a loan always comes back
      if (read.error)
        promise.reject(*read.error);
      else
        promise.resolve(std::move(read.buffer));
    });
    return future;
  });
}

Future<ReadResult> Context::read_tensor(const Tensor& tensor, Buffer&& buffer) {
  const auto& context = ContextHandle::of(*this);
  const auto promise = detail::with_errors([&] { return context->promise<ReadResult>(); });
  auto future = promise.future();
  try {
    detail::with_errors([&] {
      static_cast<void>(buffer.data());  // a detached buffer is a type_error
      const auto& handle = check_readable(context, tensor);
      check_length(handle, buffer.size());
      submit_read(context, handle, buffer, [promise](Result<msg::ReadReply> reply) {
        auto& read = reply.value();  // a loan always comes back
        promise.resolve(ReadResult{std::move(read.buffer),
                                   read.error ? Result<void>(*read.error) : Result<void>()});
      });
    });
  } catch (const Error& error) {
    promise.resolve(ReadResult{std::move(buffer), error});
  }
  return future;
}

Future<void> Context::read_tensor(const Tensor& tensor, std::span<std::byte> destination) {
  const auto& context = ContextHandle::of(*this);
  return rejecting(context->port->origin(), [&] {
    const auto& handle = check_readable(context, tensor);
    check_length(handle, destination.size());
    const auto promise = context->promise<void>();
    auto future = promise.future();
    Buffer none;
    submit_read(context, handle, none,
                [promise, destination, port = context->port](Result<msg::ReadReply> reply) {
                  const auto& read = reply.value();  // a loan always comes back
                  if (read.error) {
                    promise.reject(*read.error);
                    return;
                  }
                  std::ranges::copy(read.buffer.bytes(), destination.begin());
                  msg::count(port->counters().copies);
                  msg::count(port->counters().copied_bytes, destination.size());
                  promise.resolve();
                });
    return future;
  });
}

Future<TensorLease> Context::export_tensor(const Tensor& tensor, LeaseMode mode) {
  const auto& context = ContextHandle::of(*this);
  return rejecting(context->port->origin(), [&] {
    const auto& handle = TensorHandle::of(tensor);
    check_readable(context, tensor);
    check_writable(context, tensor, handle->bytes());
    auto& port = *context->port;
    auto permit = port.enter(Port::AdmissionClass::operations, {});
    auto lease = std::make_shared<detail::LeaseHandle>(
        handle, std::make_shared<msg::Lease>(mode, port.origin()));
    const auto granted = context->promise<void>();
    const auto reply = context->promise<TensorLease>();
    auto settled = granted.future();
    auto future = reply.future();
    port.submit(msg::LendTensor{handle->id, lease->id, mode},
                {msg::LeaseReply{lease->lease, granted}, std::move(permit), nullptr});
    lease->submitted = true;
    msg::count(port.counters().exports);
    FutureAccess::relay(
        std::move(settled), [reply, lease = std::move(lease)](Result<void> result) mutable {
          if (result)
            reply.resolve(TensorLease(std::move(lease)));
          else
            reply.reject(result.error());  // dropping the handle ends the lease on the timeline
        });
    return future;
  });
}

void Context::check_view(const Tensor& tensor, DataType view) {
  detail::with_errors([&] {
    const auto& handle = *TensorHandle::of(tensor);
    if (view == handle.descriptor.data_type || view == DataType::uint8) return;
    throw Error(ErrorKind::type_error, "a view of " + std::string(to_string(view)) +
                                           " cannot be written to " + to_string(handle.descriptor))
        .with_object(handle.name());
  });
}

}  // namespace polychron
