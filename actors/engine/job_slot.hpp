// Where a thread that serves a single actor finds that actor's job.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "base/invariant.hpp"
#include "messages/duration_class.hpp"

namespace polychron::engine {

/// Holds at most one job, which only the slot's thread takes. Thread-safe, except as noted.
template <class P>
class JobSlot : public std::enable_shared_from_this<JobSlot<P>> {
 public:
  using Job = typename P::Job;

  // -- before the actor's first job
  /// `context` identifies the callers that may run the actor instead of the thread.
  void set_context(const void* context) noexcept { context_ = context; }
  const void* context() const noexcept { return context_; }
  /// How the actor classifies its next message. The actor sets it in its first step.
  void set_next_duration(std::function<msg::DurationClass()> next) {
    next_duration_ = std::move(next);
  }
  /// Only for the holder of the job. An actor that has not started cannot say.
  msg::DurationClass next_duration() const {
    return next_duration_ ? next_duration_() : msg::DurationClass::unknown;
  }

  /// Wakes the thread for `job`, with the caller's share of it.
  void put(Job* job) {
    const auto alive = this->shared_from_this();  // the job may end the actor and its thread
    {
      const std::lock_guard lock(mutex_);
      ensure(job_ == nullptr, "an actor is made runnable once until it has run");
      job_ = job;
    }
    // planted: a thread is woken before its job is there, not after
    changed_.notify_one();
  }
  /// For the thread: blocks until there is a job. Null once the slot is closed.
  Job* await() {
    std::unique_lock lock(mutex_);
    // planted: a thread does not look for a job before it sleeps
    changed_.wait(lock, [this] { return job_ != nullptr || closed_; });
    return std::exchange(job_, nullptr);
  }
  /// The thread ends once it has run what is here.
  void close() noexcept {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_one();
  }

 private:
  typename P::Mutex mutex_;
  typename P::Condition changed_;
  Job* job_ = nullptr;
  bool closed_ = false;
  const void* context_ = nullptr;
  std::function<msg::DurationClass()> next_duration_;
};

}  // namespace polychron::engine
