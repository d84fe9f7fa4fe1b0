// A flag that one of several threads sets.
#pragma once

#include <atomic>

namespace polychron::msg {

/// Set once, by whichever thread comes first; read by all. Thread-safe.
class Once {
 public:
  /// True for the first who asks.
  bool claim() noexcept { return !done_.exchange(true); }
  bool done() const noexcept { return done_.load(std::memory_order_acquire); }

 private:
  std::atomic<bool> done_{false};
};

}  // namespace polychron::msg
