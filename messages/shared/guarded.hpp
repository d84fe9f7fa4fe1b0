// A value and the lock that it needs.
#pragma once

#include <mutex>
#include <utility>

namespace polychron::msg {

/// Written and read by any thread, under its lock.
template <class T>
class Guarded {
 public:
  Guarded() = default;
  explicit Guarded(T value) : value_(std::move(value)) {}

  /// Runs `f(T&)` with nobody else in.
  template <class F>
  decltype(auto) with(F f) {
    const std::lock_guard lock(mutex_);
    return f(value_);
  }

 private:
  std::mutex mutex_;
  T value_{};
};

}  // namespace polychron::msg
