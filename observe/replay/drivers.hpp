// Lets steps of a driven world stop in their middle for others, and go on in any order. Each step
// that has stopped has a thread, and only one of all threads runs at a time.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace polychron::replay {

/// Only one thread is ever awake, so the objects of the world need no locks. The hand-over to the
/// next thread makes known to it what the last one wrote.
class Drivers {
 public:
  /// Names a step that has stopped, until it goes on.
  using Name = std::uint64_t;

  /// Calls `step` until it returns false and no step is stopped. When `step` returns false, `next`
  /// names the stopped step that goes on; nullopt: the one that stopped first.
  void run(std::function<bool()> step, std::function<std::optional<Name>()> next);
  /// In a step: stops here until it is to go on. Throws std::system_error if there is no thread for
  /// the others.
  void stop(Name name);

 private:
  using Thread = std::size_t;  ///< 0 is run()'s
  struct Stopped {
    Name name;
    Thread thread;
  };
  void drive(Thread self);
  /// `to` runs from now on, and this thread sleeps until it is its turn again; false: all is done.
  bool hand_over(Thread self, Thread to, std::unique_lock<std::mutex>& lock);

  std::function<bool()> step_;
  std::function<std::optional<Name>()> next_;
  std::mutex mutex_;
  std::deque<std::condition_variable> wake_;  ///< of each thread
  std::vector<std::thread> threads_;          ///< from the second on
  std::vector<Thread> spare_;                 ///< those that may drive
  std::list<Stopped> stopped_;                ///< in the middle of steps
  Thread active_ = 0;
  bool done_ = false;
};

}  // namespace polychron::replay
