// What the calls of Context have in common: how mistakes reach the caller and the error scopes.
#pragma once

#include "runtime/handles.hpp"

namespace polychron::detail {

/// Runs `call`, which returns a Future; what it throws becomes the rejection: calls that promise a
/// reply never throw for the caller's mistakes (Web IDL's rule for promises).
template <class F>
auto rejecting(F call) -> decltype(call()) {
  try {
    return call();
  } catch (const Error& error) {
    return rejected<decltype(call())>(error);
  }
}

/// Runs `call`, which has no reply; what it throws is reported to the error scopes as well.
template <class F>
void reporting(const std::shared_ptr<ContextHandle>& context, F call) {
  try {
    call();
  } catch (const Error& error) {
    context->send(msg::report{error});
    throw;
  }
}

}  // namespace polychron::detail
