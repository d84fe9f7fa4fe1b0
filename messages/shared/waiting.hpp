// How long, and until when, a caller's thread waits.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>

#include "messages/conditions.hpp"

namespace polychron::msg {

/// Waits on `room` (with `lock` held, which is its mutex) until `ready()`, or for `patience`. True
/// if `ready()`.
template <class Ready>
bool wait_for(std::unique_lock<std::mutex>& lock, std::condition_variable& room,
              std::chrono::nanoseconds patience, Ready ready) {
  // The longest patience is more than a clock can be asked for.
  if (patience < std::chrono::hours(24 * 365)) return room.wait_for(lock, patience, ready);
  room.wait(lock, ready);
  return true;
}

/// In a driven world there is one thread: while a caller waits, this lets the world make a step.
/// False if nobody in it can. Empty in production, where threads wait.
using Meanwhile = std::function<bool()>;

/// Waits on `room` (with `lock` held, which is its mutex) until `ready()`, the deadline has passed,
/// or the cancellation strikes. True if `ready()`.
template <class Ready>
bool wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& room,
                const Conditions& conditions, const Now& now, const Meanwhile& meanwhile,
                Ready ready) {
  const auto given_up = [&] { return unmet(conditions, now).has_value(); };
  if (meanwhile) {
    while (!ready() && !given_up()) {
      lock.unlock();
      const bool moved = meanwhile();
      lock.lock();
      if (!moved) break;
    }
    return ready();
  }
  std::list<polychron::detail::CancellationState::Listener>::iterator listener;
  auto* const mutex = lock.mutex();
  const auto& cancellation = conditions.cancellation;
  if (cancellation) {
    lock.unlock();  // a listener takes the mutex under the cancellation's: never the other way
    listener = cancellation->listen([&room, mutex] {
      const std::lock_guard told(*mutex);
      room.notify_all();
    });
    lock.lock();
  }
  while (!ready() && !given_up()) {
    // The last moment there is never passes, and one later cannot be waited for.
    if (conditions.deadline && *conditions.deadline < Clock::time_point::max())
      room.wait_until(lock, *conditions.deadline + std::chrono::nanoseconds(1));
    else
      room.wait(lock);
  }
  if (cancellation) {
    lock.unlock();
    cancellation->unlisten(listener);
    lock.lock();
  }
  return ready();
}

}  // namespace polychron::msg
