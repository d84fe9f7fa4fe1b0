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
  Cancellation();
  // No moves: a handle always has a source.
  Cancellation(const Cancellation&) = default;
  Cancellation& operator=(const Cancellation&) = default;
  ~Cancellation() = default;
  void cancel() noexcept;
  bool cancelled() const noexcept;

 private:
  friend class detail::CancellationState;
  std::shared_ptr<detail::CancellationState> state_;
};

}  // namespace polychron
