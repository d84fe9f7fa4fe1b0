// A machine with one thread, for the engine's core: what others do while it waits is in a script.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <vector>

namespace testing::scripted {

using Time = std::chrono::steady_clock::time_point;

/// What the thread waited for, and what was woken.
struct State {
  Time now{std::chrono::hours(1)};
  int wakes = 0;              ///< notifications, of one thread or of all
  std::vector<bool> waits{};  ///< true: until a moment
  /// Called in each wait. It has the number of waits before, and does what other threads do.
  std::function<void(std::size_t)> meanwhile{};
};

struct Machine {
  using Time = scripted::Time;
  struct Job {};
  static inline State state{};

  static Time now() { return state.now; }

  struct Mutex {
    void lock() {}
    bool try_lock() { return true; }
    void unlock() {}
  };
  struct Condition {
    void notify_one() { ++state.wakes; }
    void notify_all() { ++state.wakes; }
    void wait(std::unique_lock<Mutex>&) { pass(false, state.now); }
    template <class Ready>
    void wait(std::unique_lock<Mutex>& lock, Ready ready) {
      while (!ready()) wait(lock);
    }
    void wait_until(std::unique_lock<Mutex>&, Time until) { pass(true, until); }

   private:
    static void pass(bool timed, Time until) {
      state.waits.push_back(timed);
      state.meanwhile(state.waits.size() - 1);
      state.now = std::max(state.now, until);
    }
  };
  struct Flag {
    explicit Flag(bool initial) : value(initial) {}
    bool load(std::memory_order = std::memory_order_seq_cst) const { return value; }
    void store(bool now, std::memory_order = std::memory_order_seq_cst) { value = now; }
    bool value;
  };
  /// A caller spins once, while others do something.
  struct Spin {
    bool again() {
      const bool first = !spun;
      spun = true;
      return first;
    }
    bool spun = false;
  };
};

}  // namespace testing::scripted
