// The two things that the threads which hold a handle share.
#pragma once

#include <atomic>
#include <cstdint>

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

/// Numbers 1, 2, 3, … that are never given twice. Thread-safe.
class IdSource {
 public:
  std::uint64_t next() noexcept { return next_.fetch_add(1, std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> next_{1};
};

}  // namespace polychron::msg
