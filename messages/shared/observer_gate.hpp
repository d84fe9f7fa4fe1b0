// Tells the actors of a context whether anybody listens to them.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "messages/observer.hpp"

namespace polychron::msg {

/// Read by every hook: a load and a branch while nobody listens. Threads start and stop to listen
/// at any time. The observer stays, because a thread may be in the middle of telling it something.
class ObserverGate {
 public:
  explicit ObserverGate(std::shared_ptr<Observer> observer = nullptr)
      : observer_(std::move(observer)) {}

  /// Null: nobody listens.
  Observer* observer() const noexcept {
    return closed_.load(std::memory_order_relaxed) == 0 ? observer_.get() : nullptr;
  }
  void listen(bool on) noexcept { set(not_recording, !on); }
  /// Reports nothing more of this context, after one report that says so; or reports again.
  void mute(bool on) noexcept {
    if (auto* const listener = on ? observer() : nullptr) listener->left_out();
    set(muted, on);
  }

 private:
  static constexpr std::uint8_t not_recording = 1, muted = 2;
  void set(std::uint8_t reason, bool on) noexcept {
    if (on)
      closed_.fetch_or(reason, std::memory_order_relaxed);
    else
      closed_.fetch_and(static_cast<std::uint8_t>(~reason), std::memory_order_relaxed);
  }

  const std::shared_ptr<Observer> observer_;
  std::atomic<std::uint8_t> closed_{not_recording};  ///< the reasons
};

}  // namespace polychron::msg
