// The smallest coroutine.
#pragma once

#include <coroutine>
#include <exception>

namespace polychron::testing {

/// Runs at once, and nobody waits for it.
struct Detached {
  struct promise_type {
    Detached get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
};

}  // namespace polychron::testing
