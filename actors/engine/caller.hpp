// A thread that waits for a reply and runs its context's jobs meanwhile.
#pragma once

#include <cstddef>

#include "actors/engine/job_queue.hpp"

namespace polychron::engine {

/// A thread that waits for something rare, such as the loss of a context, blocks after this number
/// of jobs.
inline constexpr int most_jobs = 256;

/// Holds a job only while it runs it: the others, those that it makes runnable among them, are in
/// the queue, deferred. So an operation that does not end holds up its lane and nothing else.
template <class P>
class Caller {
 public:
  using Queue = JobQueue<P>;
  using Job = typename P::Job;
  using Slot = JobSlot<P>;

  /// `context` is what its lanes' slots have; `context_job` is its actor's.
  Caller(Queue& queue, const void* context, const Job* context_job)
      : queue_(queue), context_(context), context_job_(context_job) {}

  /// Until `settled()`, or until the next job is not a caller's. `run(job, one)` runs it, for one
  /// message if `one`, and tells whether it has more. `returns`: the thread will call again soon.
  template <class Settled, class Run>
  void work_until(const Settled& settled, bool returns, const Run& run) {
    for (int jobs = 0; !settled(); ++jobs) {
      const auto entry = jobs < most_jobs ? look(settled) : Entry();
      if (!entry) return queue_.expedite(context_);
      if (entry.slot == nullptr)
        run_member(entry, run);
      else
        run_lane(entry, run);
    }
    // planted: a caller that leaves for good leaves its jobs deferred
    if (!returns) queue_.expedite(context_);
  }

  // -- for what runs on this thread
  void made_runnable(Job* job) noexcept { queue_.defer(job, nullptr, context_); }
  /// The same for a lane: false if its thread must be woken. One lane's operations run here. Those
  /// of a second wait for this thread only if they are tiny, else its own thread runs them.
  bool made_runnable(Slot& slot, Job* job) {
    if (slot.context() != context_) return false;
    if (lane_waits_ && slot.next_duration() != msg::DurationClass::tiny) return false;
    lane_waits_ = true;
    queue_.defer(job, &slot, context_);
    return true;
  }

 private:
  using Entry = typename Queue::Entry;

  template <class Settled>
  Entry look(const Settled& settled) {
    auto entry = queue_.try_take(context_job_, context_);
    if (entry) return entry;
    for (typename P::Spin spin; !entry && !settled() && spin.again();)
      entry = queue_.try_take(context_job_, context_);
    return entry;
  }
  template <class Run>
  void run_member(const Entry& entry, const Run& run) {
    // An actor with a backlog is the workers': the lane goes on meanwhile.
    if (run(entry.job, false)) queue_.push(entry.job);
  }
  template <class Run>
  void run_lane(const Entry& entry, const Run& run) {
    lane_waits_ = false;
    // planted: a caller runs what may be long
    if (entry.slot->next_duration() == msg::DurationClass::unknown)
      // planted: a caller does not hand over what it must not run
      entry.slot->put(entry.job);
    // planted: a caller keeps a lane that has more to do
    else if (run(entry.job, true))
      queue_.defer(entry.job, entry.slot, context_);
  }

  Queue& queue_;
  const void* const context_;
  const Job* const context_job_;
  bool lane_waits_ = false;  ///< a lane's job was deferred here
};

}  // namespace polychron::engine
