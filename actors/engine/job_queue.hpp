// The queue of runnable jobs: what the thread pool runs, and what waiting callers take from it.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "actors/engine/job_slot.hpp"

namespace polychron::engine {

/// After this time a worker runs a deferred job that no caller has taken. A shorter interval costs
/// a busy client more interruptions: each poll takes a core from a thread that computes.
inline constexpr auto poll_interval = std::chrono::microseconds(400);
/// The poller sleeps after this number of intervals without a deferred job.
inline constexpr int idle_polls = 2;
/// A caller searches only this much of a long queue: workers come to the first jobs soon.
inline constexpr std::size_t search_depth = 64;

/// First come, first served. A job is *ready* or *deferred*. For a ready job a worker is woken. A
/// caller will probably take a deferred job; a worker runs it only when it is due. Invariants:
/// - While a job is deferred and a worker waits, one worker polls: its wait ends when the first
///   deferred job is due. Deferring wakes a worker only if none polls.
/// - A worker that takes a job leaves another to poll, if one waits.
/// - push() and defer() need no memory as long as there was some when the queue last grew: an actor
///   that could not be queued would never run again, and never end.
/// Thread-safe.
template <class P>
class JobQueue {
 public:
  using Job = typename P::Job;
  using Slot = JobSlot<P>;
  struct Entry {
    Job* job = nullptr;
    Slot* slot = nullptr;           ///< of the thread that the job belongs to; null: the workers
    const void* context = nullptr;  ///< whose callers may take it
    typename P::Time due{};         ///< deferred until then; the default: ready
    explicit operator bool() const noexcept { return job != nullptr; }
    bool deferred() const noexcept { return due != typename P::Time(); }
  };

  explicit JobQueue(std::size_t capacity = 1024) : ring_(capacity) {}

  void push(Job* job) noexcept {
    std::unique_lock lock(mutex_);
    add({job, nullptr, nullptr, {}}, lock);
    // planted: no worker is woken for a ready job
    if (waiting_ > 0) changed_.notify_one();
  }
  /// For a caller of `context` to take, or for a worker once it is due. The worker gives it to
  /// `slot` if there is one.
  void defer(Job* job, Slot* slot, const void* context) noexcept {
    std::unique_lock lock(mutex_);
    add({job, slot, context, P::now() + poll_interval}, lock);
    ++deferred_;
    polls_left_ = idle_polls;
    // planted: a job is deferred though nobody polls
    call_poller();
  }
  /// For a caller: takes `job`, or what was deferred for `context`; jobs of lanes last. Empty if
  /// there is none, or another thread is looking: callers that spin do not hold up workers.
  Entry try_take(const Job* job, const void* context) noexcept {
    if (!something_.load(std::memory_order_relaxed)) return {};
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return {};
    std::size_t found = count_;
    for (std::size_t place = 0; place < std::min(count_, search_depth); ++place) {
      const auto& entry = at(place);
      if (entry.job != job && entry.context != context) continue;
      if (entry.slot == nullptr) return remove(place);
      if (found == count_) found = place;
    }
    return found == count_ ? Entry() : remove(found);
  }
  /// Jobs deferred for `context` become ready: its callers may not come back.
  void expedite(const void* context) noexcept {
    if (!something_.load(std::memory_order_relaxed)) return;
    const std::lock_guard lock(mutex_);
    for (std::size_t place = 0; place < count_; ++place) {
      auto& entry = at(place);
      if (entry.context != context || !entry.deferred()) continue;
      entry.due = {};
      --deferred_;
      // planted: what is left for good is ready and nobody is woken for it
      if (waiting_ > 0) changed_.notify_one();
    }
  }
  /// A worker's life. `run(job)` tells whether the job has more to do.
  template <class Run>
  void serve(const Run& run) {
    while (const auto entry = next())
      if (entry.slot != nullptr)
        entry.slot->put(entry.job);
      else if (run(entry.job))
        push(entry.job);
  }
  /// All that is deferred is due, and then the workers end.
  void close() noexcept {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    // planted: the end is told to one worker
    changed_.notify_all();
  }

 private:
  Entry& at(std::size_t place) noexcept { return ring_[(first_ + place) % ring_.size()]; }

  void add(const Entry& entry, std::unique_lock<typename P::Mutex>& lock) noexcept {
    if (count_ > ring_.size() / 2) grow();
    // The ring is full and there is no memory: workers make room.
    room_.wait(lock, [this] { return count_ < ring_.size(); });
    at(count_++) = entry;
    something_.store(true, std::memory_order_relaxed);
  }
  void grow() noexcept {
    try {
      std::vector<Entry> larger(2 * ring_.size());
      for (std::size_t place = 0; place < count_; ++place) larger[place] = at(place);
      ring_.swap(larger);
      first_ = 0;
    } catch (const std::bad_alloc&) {  // half of it is left
    }
  }
  Entry remove(std::size_t place) noexcept {
    for (; place > 0; --place) std::swap(at(place), at(place - 1));
    const auto entry = at(0);
    first_ = (first_ + 1) % ring_.size();
    if (count_-- == ring_.size()) room_.notify_all();
    if (entry.deferred()) --deferred_;
    something_.store(count_ > 0, std::memory_order_relaxed);
    return entry;
  }
  /// Blocks until there is a job for a worker. Empty once the queue is closed and empty.
  Entry next() noexcept {
    std::unique_lock lock(mutex_);
    for (;;) {
      if (const auto entry = take_due()) {
        called_ = false;
        // planted: the poller runs a job and leaves nobody to poll
        call_poller();
        return entry;
      }
      if (closed_) return {};
      wait(lock);
    }
  }
  Entry take_due() noexcept {
    if (count_ == 0) return {};
    const auto now = deferred_ == 0 || closed_ ? P::Time::max() : P::now();
    for (std::size_t place = 0; place < count_; ++place)
      if (at(place).due <= now) return remove(place);
    return {};
  }
  void call_poller() noexcept {
    if (deferred_ == 0 || polling_ || called_ || waiting_ == 0) return;
    called_ = true;
    changed_.notify_one();
  }
  void wait(std::unique_lock<typename P::Mutex>& lock) {
    ++waiting_;
    // planted: a worker that was called to poll and finds nothing is still expected to come
    called_ = false;
    // planted: the poller sleeps while a job is deferred
    if (!polling_ && (deferred_ > 0 || polls_left_ > 0)) {
      polling_ = true;
      polls_left_ = std::max(0, polls_left_ - 1);
      changed_.wait_until(lock, next_poll());
      // planted: a poller that has a job is still taken for one
      polling_ = false;
    } else {
      changed_.wait(lock);
    }
    --waiting_;
  }
  /// They were deferred in the order in which they are due.
  typename P::Time next_poll() noexcept {
    // planted: the poller waits for a whole interval whatever is due before
    for (std::size_t place = 0; deferred_ > 0; ++place)
      if (at(place).deferred()) return at(place).due;
    return P::now() + poll_interval;
  }

  typename P::Mutex mutex_;
  typename P::Condition changed_, room_;
  /// True if there was an entry a moment ago.
  typename P::Flag something_{false};
  std::vector<Entry> ring_;  ///< `count_` entries from `first_` on
  std::size_t first_ = 0, count_ = 0;
  std::size_t deferred_ = 0;  ///< of these
  std::size_t waiting_ = 0;   ///< workers
  bool polling_ = false;      ///< one of them polls
  bool called_ = false;       ///< one was woken to poll, and none has come by since
  int polls_left_ = 0;        ///< before the poller sleeps
  bool closed_ = false;
};

}  // namespace polychron::engine
