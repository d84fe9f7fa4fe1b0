// The calls of MLContext on the caller's side: check what never changes, then submit.
#include "polychron/context.hpp"

#include "ops/limits.hpp"
#include "runtime/calls.hpp"

namespace polychron {

namespace detail {

const std::shared_ptr<ContextHandle>& ContextHandle::of(const Context& context) {
  if (!context.handle_)
    refuse(ErrorKind::type_error, "this Context refers to nothing: it was default-constructed");
  return context.handle_;
}

}  // namespace detail

using detail::ContextHandle;
using detail::Port;
using detail::rejecting;

const std::string& Context::label() const { return ContextHandle::of(*this)->port->label(); }

bool Context::accelerated() const { return ContextHandle::of(*this)->accelerated; }

void Context::push_error_scope(ErrorFilter filter) {
  const auto& context = ContextHandle::of(*this);
  context->check_alive();
  detail::with_errors([&] {
    auto permit = context->port->enter(Port::AdmissionClass::scopes, {});
    context->port->submit(msg::PushScope{filter}, {{}, std::move(permit), nullptr});
  });
}

Future<std::optional<Error>> Context::pop_error_scope() {
  const auto& context = ContextHandle::of(*this);
  return rejecting(context->port->origin(), [&] {
    context->check_alive();
    auto permit = context->port->enter(Port::AdmissionClass::questions, {});
    auto reply = context->promise<std::optional<Error>>();
    auto future = reply.future();
    context->port->submit(msg::PopScope{}, {std::move(reply), std::move(permit), nullptr});
    return future;
  });
}

void Context::on_uncaptured_error(std::function<void(const Error&)> handler) {
  const auto& context = ContextHandle::of(*this);
  if (context->port->lost()) return;  // no errors will come
  detail::with_errors([&] {
    auto permit = context->port->enter(Port::AdmissionClass::questions, {});
    msg::ErrorHandler told;
    if (handler) told = {std::move(handler), context->port->origin()};
    context->port->submit(msg::SetErrorHandler{}, {std::move(told), std::move(permit), nullptr});
  });
}

void Context::log(LogLevel level, std::string_view message) const {
  ContextHandle::of(*this)->port->log(level, message);
}

void Context::set_traced(bool on) { ContextHandle::of(*this)->port->set_traced(on); }

ContextStats Context::stats() const {
  return detail::with_errors([&] { return ContextHandle::of(*this)->port->stats(); });
}

Future<std::vector<PendingOperation>> Context::pending() {
  const auto& context = ContextHandle::of(*this);
  return rejecting(context->port->origin(), [&] {
    context->check_alive();
    auto permit = context->port->enter(Port::AdmissionClass::questions, {});
    auto reply = context->promise<std::vector<PendingOperation>>();
    auto future = reply.future();
    context->port->submit(msg::AskPending{}, {std::move(reply), std::move(permit), nullptr});
    return future;
  });
}

const OpSupportLimits& Context::op_support_limits() const {
  const auto& context = ContextHandle::of(*this);
  return detail::with_errors(
      [&]() -> const OpSupportLimits& { return ops::support_limits(context->strict); });
}

void Context::destroy() { ContextHandle::of(*this)->port->destroy(); }

Future<LostInfo> Context::lost() const {
  const auto& context = ContextHandle::of(*this);
  return detail::with_errors([&] { return context->port->watch_loss(); });
}

}  // namespace polychron
