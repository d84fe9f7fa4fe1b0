// The state that the handles of a Cancellation share, and its listeners.
#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <mutex>

#include "polychron/cancellation.hpp"
#include "polychron/process.hpp"

namespace polychron::detail {

/// The thread that cancels writes it; devices and waiting callers read it. Thread-safe.
class CancellationState {
 public:
  using Listener = std::function<void()>;

  /// For a call. Throws invalid_state in a child forked since it was made.
  static std::shared_ptr<CancellationState> of(const Cancellation& cancellation) {
    cancellation.state_->process_.check();
    return cancellation.state_;
  }

  bool cancelled() const noexcept { return cancelled_.load(std::memory_order_acquire); }
  /// Cancels, and calls the listeners on this thread. In a forked child there are none.
  void cancel() noexcept;

  /// Calls `listener` on cancel(), until unlisten(). If it is already cancelled, does not call it.
  std::list<Listener>::iterator listen(Listener listener);
  /// When this returns, the listener is not running and will not run.
  void unlisten(std::list<Listener>::iterator listener);

 private:
  const Process process_;
  std::atomic<bool> cancelled_{false};
  std::mutex mutex_;
  std::list<Listener> listeners_;
};

}  // namespace polychron::detail
