// The engine's core needs this of a machine. A test puts a deterministic scheduler in its place.
#pragma once

#include <atomic>
#include <caf/resumable.hpp>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/usable_cores.hpp"
#include "kernels/threads.hpp"

namespace polychron::engine {

/// Real threads, and actors for jobs.
struct Machine {
  using Job = caf::resumable;
  using Mutex = std::mutex;
  using Condition = std::condition_variable;
  using Flag = std::atomic<bool>;
  using Time = std::chrono::steady_clock::time_point;
  static Time now() noexcept { return std::chrono::steady_clock::now(); }

  /// The way in which a caller with nothing to do waits before it blocks. Others may settle its
  /// reply, or leave it a job, sooner than a blocked thread can be woken.
  class Spin {
   public:
    /// Waits for a moment. False once the caller should block.
    bool again() noexcept {
      const auto spent = now() - begun_;
      if (alone() || spent > spin_time) return false;
      if (spent > spin_time / 4)
        std::this_thread::yield();
      else
        kernels::breathe();
      return true;
    }

   private:
    static constexpr auto spin_time = std::chrono::microseconds(20);
    static bool alone() noexcept {
      static const bool one_core = count_usable_cores() == 1;
      return one_core;
    }
    const Time begun_ = now();
  };
};

}  // namespace polychron::engine
