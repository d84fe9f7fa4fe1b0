// The work that a thread does while it waits for a reply.
#pragma once

#include <atomic>

namespace polychron::msg {

/// Runs the jobs that the reply depends on. The engine implements it. Thread-safe.
class CallerWork {
 public:
  virtual ~CallerWork() = default;
  /// Returns once `settled`, or when the caller should block.
  virtual void work_until(const std::atomic<bool>& settled) = 0;
};

}  // namespace polychron::msg
