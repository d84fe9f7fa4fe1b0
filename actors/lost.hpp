// How a context tells everybody, once, that it is gone.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "polychron/context.hpp"
#include "polychron/future.hpp"

namespace polychron::actors {

/// Shared by a context's actors and its handles, and the reason that unanswered calls are rejected
/// with. Resolved once; thread-safe.
class LostSignal final : public detail::Abandonment {
 public:
  explicit LostSignal(std::string context) : context_(std::move(context)) {}

  /// True once resolved. Cheap: asked by every call.
  bool lost() const noexcept { return lost_.load(std::memory_order_acquire); }

  /// The first call settles every future of watch(); later ones do nothing.
  void resolve(LostInfo info) {
    std::vector<Promise<LostInfo>> watchers;
    {
      const std::lock_guard lock(mutex_);
      if (info_) return;
      info_ = info;
      watchers.swap(watchers_);
      lost_.store(true, std::memory_order_release);
    }
    for (const auto& watcher : watchers) watcher.resolve(info);
  }

  Future<LostInfo> watch() {
    auto promise = Promise<LostInfo>::make();
    auto future = promise.future();
    const std::lock_guard lock(mutex_);
    if (info_)
      promise.resolve(*info_);  // nobody can have chained a callback yet
    else
      watchers_.push_back(std::move(promise));
    return future;
  }

  /// What calls on the lost context report.
  Error error() const override {
    const std::lock_guard lock(mutex_);
    const bool destroyed = !info_ || info_->reason == LostReason::destroyed ||
                           info_->reason == LostReason::runtime_shutdown;
    const Error reason(destroyed ? ErrorKind::invalid_state : ErrorKind::context_lost,
                       info_ ? info_->message : "the context is being destroyed");
    return reason.with_object(context_);
  }

 private:
  const std::string context_;
  std::atomic<bool> lost_{false};
  mutable std::mutex mutex_;
  std::optional<LostInfo> info_;
  std::vector<Promise<LostInfo>> watchers_;
};

}  // namespace polychron::actors
