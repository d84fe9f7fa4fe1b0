// What a call does when there is no memory: it says so, as an Error.
#pragma once

#include <new>

#include "polychron/error.hpp"

namespace polychron::detail {

/// What `call` throws, as an Error: without memory that is out_of_memory.
template <class F>
auto with_errors(F call) -> decltype(call()) {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::out_of_memory, "out of memory");
  }
}

}  // namespace polychron::detail
