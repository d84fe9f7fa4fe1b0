// Shared by all calls of Context: they pass errors to the caller and to the error scopes.
#pragma once

#include "runtime/handles.hpp"

namespace polychron::detail {

/// Runs `call`, which returns a Future, and turns an exception into a rejection: calls with a reply
/// never throw for wrong arguments (Web IDL's rule for promises). `origin` runs the callbacks of
/// the rejected future.
template <class F>
auto rejecting(const std::shared_ptr<const Origin>& origin, F call) -> decltype(call()) {
  try {
    return with_errors(std::move(call));
  } catch (const Error& error) {
    return with_errors([&] { return rejected<decltype(call())>(error, origin); });
  }
}

/// Runs `call`, which has no reply, and reports an exception to the error scopes as well.
template <class F>
void reporting(const std::shared_ptr<ContextHandle>& context, F call) {
  try {
    with_errors(std::move(call));
  } catch (const Error& error) {
    context->port->report(error);
    throw;
  }
}

/// The conditions under which an operation with these options may start.
template <class Options>
msg::Conditions conditions_of(const Options& options) {
  return {options.deadline,
          options.cancellation ? CancellationState::of(*options.cancellation) : nullptr};
}

}  // namespace polychron::detail
