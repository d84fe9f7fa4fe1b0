// Stopping operations that have not started.
#pragma once

#include <functional>
#include <memory>

namespace polychron {

namespace detail {
class CancellationState;
}

/// Stops operations that have not started yet: they are skipped, and what they would have written
/// is errored (aborted); a call that is blocked at an admission limit throws (aborted). Copies are
/// handles to the same source. Thread-safe.
class Cancellation {
 public:
  /// A source of its own, not cancelled.
  Cancellation();
  // No moves: a handle always has a source.
  /// A handle to the same source.
  Cancellation(const Cancellation&) = default;
  /// Becomes a handle to the same source.
  Cancellation& operator=(const Cancellation&) = default;
  ~Cancellation() = default;
  /// For good: what has started goes on, whatever was given this source and has not is skipped,
  /// and so is what gets it later. Idempotent.
  void cancel() noexcept;
  /// True once any handle to the source has called cancel().
  bool cancelled() const noexcept;

 private:
  friend class detail::CancellationState;
  std::shared_ptr<detail::CancellationState> state_;
};

}  // namespace polychron
