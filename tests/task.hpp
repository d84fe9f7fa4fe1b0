// A coroutine whose end can be waited for.
#pragma once

#include <coroutine>
#include <exception>
#include <future>

namespace polychron::testing {

/// Runs at once; `end` tells the end, and what it threw.
struct Task {
  struct promise_type {
    Task get_return_object() { return {ended.get_future()}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() { ended.set_value(); }
    void unhandled_exception() { ended.set_exception(std::current_exception()); }
    std::promise<void> ended;
  };
  std::future<void> end;
};

}  // namespace polychron::testing
