// Around calls into a backend, and in one: what they throw is an error like any other.
#pragma once

#include <exception>
#include <new>

#include "base/invariant.hpp"
#include "polychron/result.hpp"

namespace polychron::kernels {

/// Runs `call`; an exception (bad_alloc, a library's own) becomes a Result like any other failure.
/// All but a broken invariant, which is no failure of the call: it goes on to whoever runs this.
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

}  // namespace polychron::kernels
