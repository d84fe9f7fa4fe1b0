// Around calls into a backend, and in one: what they throw is an error like any other.
#pragma once

#include <exception>
#include <new>

#include "polychron/result.hpp"

namespace polychron::kernels {

/// Runs `call`; an exception (bad_alloc, a library's own) becomes a Result like any other failure.
template <class F>
auto guarded(F call) -> decltype(call()) {
  try {
    return call();
  } catch (const Error& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return Error(ErrorKind::out_of_memory, "out of memory");
  } catch (const std::exception& e) {
    return Error(ErrorKind::operation_error, e.what());
  }
}

}  // namespace polychron::kernels
