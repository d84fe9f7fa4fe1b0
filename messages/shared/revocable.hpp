// A value that one thread uses, and another takes away.
#pragma once

#include <mutex>
#include <optional>
#include <utility>

namespace polychron::msg {

/// After revoke() nobody uses the value any more, and nobody else holds a copy of it. Thread-safe;
/// a use may revoke.
template <class T>
class Revocable {
 public:
  explicit Revocable(T value) : value_(std::move(value)) {}

  /// Calls `use` with the value, unless it was revoked.
  template <class F>
  void with(const F& use) {
    const std::lock_guard lock(mutex_);
    if (!value_) return;
    const T kept = *value_;
    use(kept);
  }
  /// Waits for a use in another thread.
  void revoke() noexcept {
    const std::lock_guard lock(mutex_);
    value_.reset();
  }

 private:
  std::recursive_mutex mutex_;
  std::optional<T> value_;
};

}  // namespace polychron::msg
