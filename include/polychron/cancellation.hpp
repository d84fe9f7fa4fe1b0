// Stopping operations that have not started.
#pragma once

#include <functional>
#include <memory>

namespace polychron {

namespace detail {
class CancellationState;
}

/// Stops operations that have not started yet. The device skips them and marks the tensors that
/// they would have written as errored (aborted). A call that is blocked at an admission limit
/// throws (aborted). Copies are handles to the same source. Thread-safe. Calls in a forked child
/// refuse one of its parent's (invalid_state).
class Cancellation {
 public:
  /// A new source, not cancelled. Throws out_of_memory.
  Cancellation();
  // No moves: a handle always has a source.
  /// A handle to the same source.
  Cancellation(const Cancellation&) = default;
  /// Becomes a handle to the same source.
  Cancellation& operator=(const Cancellation&) = default;
  ~Cancellation() = default;
  /// Cancels permanently. Operations that have started go on; all others with this source are
  /// skipped, including later ones. Idempotent. Safe on any thread.
  void cancel() noexcept;
  /// True once any handle to the source has called cancel().
  bool cancelled() const noexcept;

 private:
  friend class detail::CancellationState;
  std::shared_ptr<detail::CancellationState> state_;
};

}  // namespace polychron
