// The threads that serve the actors of all contexts: CAF's scheduler, as this runtime needs it.
#pragma once

#include <array>
#include <atomic>
#include <caf/all.hpp>
#include <caf/scheduler/abstract_coordinator.hpp>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "messages/shared/own_thread.hpp"

namespace polychron::msg {

/// Threads, and a queue of what is to run on them: first come, first served. Making something
/// runnable allocates nothing while there is memory to be short of: where that failed, an actor
/// would never run again, and never end. Written by whoever sends, read by the threads. They are
/// there before the actor system is, which would not survive it if they could not be had.
class Workforce {
 public:
  /// Throws std::system_error, having ended those that it had.
  explicit Workforce(std::size_t threads);
  Workforce(const Workforce&) = delete;
  Workforce& operator=(const Workforce&) = delete;
  ~Workforce();

  /// Lets the threads work for `system`.
  void open(caf::actor_system& system, std::size_t messages_a_turn);
  void push(caf::resumable* job) noexcept;
  using Post = OwnThread::Post;
  /// Likewise, by who means to take it back soon, or has somebody in mind who will: only if nobody
  /// does, the thread that has this post is woken for it, `quiet_for` later; or a thread that is on
  /// the lookout or has other work runs the job, later still where all were taken back of late.
  void push_quietly(caf::resumable* job, std::shared_ptr<Post> post = nullptr) noexcept;
  static constexpr std::chrono::microseconds quiet_for{200};

  struct Found {
    caf::resumable* job = nullptr;
    Post* post = nullptr;  ///< of the thread whose job it is; null: one of these
    explicit operator bool() const noexcept { return job != nullptr; }
  };
  using Posts = std::span<const std::shared_ptr<Post>>;
  /// Takes `job` out of the queue, for whoever runs it instead of a thread of this, or what was
  /// pushed quietly with one of these posts. Nothing if none is there, or far from its turn, or
  /// somebody else is just looking: who looks does so again.
  Found try_take(const caf::resumable* job, Posts posts = {}) noexcept;
  /// What was pushed quietly with one of these posts.
  Found take_quiet(Posts posts) noexcept;
  /// Ends the threads, once the queue is empty.
  void close();

 private:
  using Clock = std::chrono::steady_clock;
  class Unit;
  caf::resumable*& at(std::size_t place) noexcept { return ring_[(first_ + place) % ring_.size()]; }
  /// Takes one of those that were pushed quietly out. Under the lock.
  template <class Wanted>
  Found take_quiet_if(const Wanted& wanted) noexcept;
  /// Takes the first out. Under the lock, with one in the queue.
  caf::resumable* pop() noexcept;
  /// Makes room ahead of need, so that push() finds some when there is no memory.
  void make_room() noexcept;
  void serve();
  /// What was pushed quietly and is due is a job like others from here on; all of it at the end.
  /// Under the lock.
  void surface() noexcept;
  template <class Notify>
  void wake(std::unique_lock<std::mutex>& lock, const Notify& notify) noexcept;
  void wake_one(std::unique_lock<std::mutex>& lock) noexcept;
  void wake_all(std::unique_lock<std::mutex>& lock) noexcept;
  /// Until there is a job, or the end.
  void rest(std::unique_lock<std::mutex>& lock);
  void look_out(std::unique_lock<std::mutex>& lock);
  /// By whoever adds or takes, under the lock.
  void note() noexcept { something_.store(count_ + quiet_count_ > 0, std::memory_order_relaxed); }
  bool idle() const noexcept { return count_ == 0 && !closing_; }

  std::mutex mutex_;
  std::condition_variable changed_, popped_;
  caf::actor_system* system_ = nullptr;
  std::size_t messages_a_turn_ = 1;
  /// Whether there is something to take, as it was a moment ago: who looks again and again does not
  /// keep those who work from the lock.
  std::atomic<bool> something_{false};
  std::vector<caf::resumable*> ring_;  ///< of `count_` jobs from `first_` on
  std::size_t first_ = 0, count_ = 0, sleeping_ = 0;
  std::atomic<std::size_t> waking_{0};  ///< by those who push, without the lock
  bool closing_ = false;
  struct Quiet {
    caf::resumable* job = nullptr;
    std::shared_ptr<Post> post;
    Clock::time_point due;  ///< from then on a thread may run it
  };
  std::array<Quiet, 16> quiet_{};  ///< `quiet_count_` of these
  std::size_t quiet_count_ = 0;
  std::uint64_t quietly_taken_ = 0;  ///< of these by who pushed them, so far
  bool called_ = false;              ///< one of those that sleep was woken to be on the lookout
  bool lookout_ = false;             ///< one is: it comes by without being woken
  Clock::time_point comes_by_{};     ///< when
  int intervals_with_posts_ = 0;     ///< so many more are short
  std::chrono::microseconds trust_ = quiet_for;  ///< how long what has no post is quiet
  std::vector<std::thread> threads_;
};

/// A bounded number of messages a turn (scheduler.max-throughput): an actor with a backlog does not
/// keep a thread from the others. There are no threads for a clock and a printer, which nobody here
/// needs.
class Workers final : public caf::scheduler::abstract_coordinator {
 public:
  explicit Workers(caf::actor_system& system);
  ~Workers() override;
  /// For caf::actor_system_config::load(): the next system that this thread makes has this force.
  static void take_on(std::shared_ptr<Workforce> force);
  static caf::actor_system::module* make(caf::actor_system& system, caf::detail::type_list<>) {
    return new Workers(system);
  }

  void enqueue(caf::resumable* job) override { force_->push(job); }
  caf::actor_clock& clock() noexcept override;

 protected:
  void start() override { force_->open(system(), max_throughput()); }
  void stop() override { force_->close(); }

 private:
  class NoClock;
  const std::shared_ptr<Workforce> force_;
  const std::unique_ptr<NoClock> clock_;
};

}  // namespace polychron::msg
