// Replies of a context whose callbacks wait for the thread that runs callbacks.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "messages/conditions.hpp"
#include "messages/shared/waiting.hpp"
#include "polychron/error.hpp"

namespace polychron::msg {

/// Nothing else bounds them: their operations are over, and each may hold the bytes of a read.
/// Added to by the thread that settles, which never waits; taken by the callback thread; callers
/// wait here. Thread-safe.
class Backlog {
 public:
  void add() noexcept { ++waiting_; }
  void take() noexcept {
    --waiting_;
    // Sequentially consistent against wait_below(): one of the two sees the other.
    if (callers_.load() > 0) notify();
  }
  /// The context is gone: nobody is kept.
  void close() noexcept {
    closed_.store(true);
    notify();
  }
  /// True if a caller may go on; one load.
  bool below(std::uint64_t most) const noexcept { return waiting_.load() < most || closed_.load(); }
  /// Waits until it may, or until `conditions` end the wait: then throws aborted or timed_out.
  void wait_below(std::uint64_t most, const Conditions& conditions, const Now& now) {
    const Caller caller(callers_);
    std::unique_lock lock(mutex_);
    if (wait_until(lock, changed_, conditions, now, nullptr, [&] { return below(most); })) return;
    if (auto error = unmet(conditions, now)) throw Error(*error);
  }

 private:
  struct Caller {
    explicit Caller(std::atomic<std::uint64_t>& counter) noexcept : count(counter) { ++count; }
    Caller(const Caller&) = delete;
    Caller& operator=(const Caller&) = delete;
    ~Caller() { --count; }
    std::atomic<std::uint64_t>& count;
  };
  void notify() noexcept {
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
  }

  std::atomic<std::uint64_t> waiting_{0}, callers_{0};
  std::atomic<bool> closed_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
};

}  // namespace polychron::msg
