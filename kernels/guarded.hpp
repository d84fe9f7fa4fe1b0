// A wrapper around calls into a backend and inside it: exceptions become errors like any other.
#pragma once

#include <exception>
#include <new>

#include "base/invariant.hpp"
#include "kernels/backend.hpp"
#include "polychron/result.hpp"

namespace polychron::kernels {

/// Runs `call`. Turns an exception (bad_alloc, a library's own) into a Result. Rethrows only
/// BrokenInvariant, because a bug in this library is not a failure of the call.
template <class F>
auto guarded(F call) -> decltype(call()) {
  try {
    return call();
  } catch (const Error& error) {
    return error;
  } catch (const BrokenInvariant&) {
    throw;
  } catch (const std::bad_alloc&) {
    return Error(ErrorKind::out_of_memory, "out of memory");
  } catch (const std::exception& e) {
    return Error(ErrorKind::operation_error, e.what());
  } catch (...) {
    return Error(ErrorKind::operation_error, "an exception of an unknown type");
  }
}

/// The same for a call that returns an ExecuteStatus.
template <class F>
ExecuteStatus guarded_execution(F call) {
  ExecuteStatus status;
  status.result = guarded([&]() -> Result<void> {
    auto executed = call();
    status.inherent = executed.inherent;
    return executed.result;
  });
  return status;
}

}  // namespace polychron::kernels
