// What the calls of Context have in common: how mistakes reach the caller and the error scopes.
#pragma once

#include "runtime/handles.hpp"

namespace polychron::detail {

/// Runs `call`, which returns a Future; what it throws becomes the rejection: calls that promise a
/// reply never throw for the caller's mistakes (Web IDL's rule for promises). `origin`: where that
/// future's callbacks run.
template <class F>
auto rejecting(const std::shared_ptr<const Origin>& origin, F call) -> decltype(call()) {
  try {
    return with_errors(std::move(call));
  } catch (const Error& error) {
    return with_errors([&] { return rejected<decltype(call())>(error, origin); });
  }
}

/// Runs `call`, which has no reply; what it throws is reported to the error scopes as well.
template <class F>
void reporting(const std::shared_ptr<ContextHandle>& context, F call) {
  try {
    with_errors(std::move(call));
  } catch (const Error& error) {
    context->port->report(error);
    throw;
  }
}

/// Whether an operation that was asked for with these options may still start, and from where its
/// cancellation comes.
template <class Options>
msg::Conditions conditions_of(const Options& options) {
  return {options.deadline,
          options.cancellation ? CancellationState::of(*options.cancellation) : nullptr};
}

}  // namespace polychron::detail
