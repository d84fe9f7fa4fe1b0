// Logical time (Lamport, "Time, Clocks, and the Ordering of Events in a Distributed System", 1978):
// if one event led to another, its time is lower. Recordings are put in order by it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace polychron::msg {

using LogicalTime = std::uint64_t;

/// The clock of the calling thread. An actor carries the time from one thread to the next. A
/// message carries it from its sender to its receiver, and a shared word from each access to the
/// next.
LogicalTime& logical_clock() noexcept;

/// A new event of this thread.
inline LogicalTime tick() noexcept { return ++logical_clock(); }
/// Puts this thread's next actions after an event at `time`.
inline void comes_after(LogicalTime time) noexcept {
  auto& now = logical_clock();
  now = std::max(now, time);
}

/// A flag that threads race to set. It keeps the logical time of its last access, in one word with
/// the flag, so that accesses have an order. Thread-safe.
class RacedFlag {
 public:
  /// True for the first who asks.
  bool set() noexcept { return !access(1); }
  bool is_set() const noexcept { return (word_.load(std::memory_order_acquire) & 1) != 0; }
  /// is_set() as an event of a recording: a later set() has a later time.
  bool look() noexcept { return access(0); }

 private:
  /// True if the flag was set before.
  bool access(std::uint64_t flag) noexcept {
    auto& clock = logical_clock();
    auto word = word_.load(std::memory_order_relaxed);
    for (;;) {
      const auto time = std::max(word >> 1U, clock) + 1;
      if (!word_.compare_exchange_weak(word, time << 1U | (word & 1U) | flag)) continue;
      clock = time;
      return (word & 1U) != 0;
    }
  }

  std::atomic<std::uint64_t> word_{0};
};

}  // namespace polychron::msg
