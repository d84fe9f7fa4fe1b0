// Why every dispatch of a graph would fail.
#pragma once

#include <atomic>
#include <memory>

#include "messages/shared/logical_clock.hpp"
#include "polychron/error.hpp"

namespace polychron::msg {

/// The first failure that says so. Written by the lane that finds out, at most once; the other
/// lanes see it when they next look.
class Invalidity {
 public:
  Invalidity() = default;
  Invalidity(const Invalidity&) = delete;
  Invalidity& operator=(const Invalidity&) = delete;
  ~Invalidity() { delete why_.load(); }
  /// True if this is the first.
  bool set(const Error& error) {
    auto why = std::make_unique<const Error>(error);
    const Error* none = nullptr;
    if (!why_.compare_exchange_strong(none, why.get())) return false;
    static_cast<void>(why.release());
    known_.set();
    return true;
  }
  /// Null as long as the graph is fine.
  const Error* get() const noexcept { return why_.load(std::memory_order_acquire); }
  /// get() as an event of a recording, which orders this look and set().
  const Error* look() noexcept { return known_.look() ? get() : nullptr; }

 private:
  std::atomic<const Error*> why_{nullptr};
  RacedFlag known_;
};

}  // namespace polychron::msg
