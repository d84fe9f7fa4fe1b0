// Tells a context that one of its actors failed, from that actor's very first step on.
#pragma once

#include <mutex>
#include <optional>
#include <utility>

#include "messages/context.hpp"

namespace polychron::msg {

/// Lanes and compilers live before their context does, and may fail before it is there. Written by
/// the context, once, and by those who fail early. Thread-safe; needs no memory.
class FailureMonitor {
 public:
  /// By the context: from here on it is told. Returns an earlier failure, if there was one.
  std::optional<actor_failed> attach(caf::actor_addr context) noexcept {
    const std::lock_guard lock(mutex_);
    context_ = std::move(context);
    attached_ = true;
    return std::exchange(early_, std::nullopt);
  }
  /// Null before the context is there, and once it has gone.
  context_actor context() const noexcept {
    const std::lock_guard lock(mutex_);
    return caf::actor_cast<context_actor>(context_);
  }
  /// By an actor that fails: whom to tell. Null before the context is there, which will hear of
  /// `failure` then, and once it has gone.
  context_actor report(actor_failed& failure) noexcept {
    const std::lock_guard lock(mutex_);
    if (!attached_ && !early_) early_ = std::move(failure);
    return caf::actor_cast<context_actor>(context_);
  }

 private:
  mutable std::mutex mutex_;
  bool attached_ = false;
  caf::actor_addr context_;  ///< weak: the context holds its actors
  std::optional<actor_failed> early_;
};

}  // namespace polychron::msg
