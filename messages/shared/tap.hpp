// Whether anybody listens to the actors of a context.
#pragma once

#include <atomic>

#include "messages/observer.hpp"

namespace polychron::msg {

/// Read by every hook: a load and a branch if nobody listens. Written by whoever starts and stops
/// to listen, at any time.
class Tap {
 public:
  /// Null: nobody listens.
  Observer* observer() const noexcept { return observer_.load(std::memory_order_acquire); }

  /// `observer` must live as long as this: a thread may be in the middle of telling it something.
  /// Null: nobody.
  void listen(Observer* observer) noexcept { observer_.store(observer, std::memory_order_release); }

 private:
  std::atomic<Observer*> observer_{nullptr};
};

}  // namespace polychron::msg
