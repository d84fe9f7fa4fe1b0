#include "polychron/tensor.hpp"

#include "runtime/calls.hpp"

namespace polychron {

namespace detail {

const std::shared_ptr<TensorHandle>& TensorHandle::of(const Tensor& tensor) {
  if (!tensor.handle_)
    refuse(ErrorKind::type_error, "this Tensor refers to nothing: it was default-constructed");
  return tensor.handle_;
}

void TensorHandle::check_usable(const std::shared_ptr<ContextHandle>& by) const {
  if (context != by)
    throw Error(ErrorKind::type_error, "the tensor belongs to another context").with_object(name());
  by->check_alive();
  if (destroyed.done())
    throw Error(ErrorKind::invalid_state, "the tensor is destroyed").with_object(name());
}

}  // namespace detail

using detail::TensorHandle;

DataType Tensor::data_type() const { return descriptor().data_type; }
const Shape& Tensor::shape() const { return descriptor().shape; }
const OperandDescriptor& Tensor::descriptor() const { return TensorHandle::of(*this)->descriptor; }
std::uint64_t Tensor::byte_length() const { return TensorHandle::of(*this)->bytes(); }
bool Tensor::readable() const { return TensorHandle::of(*this)->descriptor.readable; }
bool Tensor::writable() const { return TensorHandle::of(*this)->descriptor.writable; }
bool Tensor::constant() const { return TensorHandle::of(*this)->is_constant; }
const std::string& Tensor::label() const { return TensorHandle::of(*this)->descriptor.label; }
std::uint64_t Tensor::id() const { return TensorHandle::of(*this)->id; }

Future<std::optional<Error>> Tensor::error() const {
  return detail::rejecting(handle_ ? handle_->context->port->origin() : nullptr, [&] {
    const auto& handle = *TensorHandle::of(*this);
    const auto& port = handle.context->port;
    handle.check_usable(handle.context);
    auto permit = port->enter(detail::Port::AdmissionClass::queries, {});
    auto reply = handle.context->promise<std::optional<Error>>();
    auto future = reply.future();
    port->submit(msg::QueryError{handle.id}, {std::move(reply), std::move(permit), nullptr});
    return future;
  });
}

void Tensor::destroy() { TensorHandle::of(*this)->destroy(); }

}  // namespace polychron
