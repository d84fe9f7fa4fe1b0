// The thread that waits for a reply does the work meanwhile: to wake others, and to be woken by
// them, costs many times what a small operation does.
#pragma once

#include <atomic>
#include <caf/all.hpp>
#include <functional>
#include <memory>
#include <vector>

#include "messages/length.hpp"
#include "messages/shared/own_thread.hpp"
#include "messages/shared/workers.hpp"

namespace polychron::msg {

/// What callers that wait for replies of one context may do for it: run its actor, its tensors' and
/// graphs', and such operations of its lanes as are known to be brief.
///
/// An actor is run by whoever has its job, and a job is in one place: in the workforce's queue, in
/// the post of its thread, or in somebody's hands. So nobody runs what a helper does, whatever
/// else is the case. Invariants:
/// - What is in a helper's hands nobody else was woken for. It runs it or hands it over before it
///   waits again; and before it begins an operation it has nothing else in its hands. One that is
///   held up in an operation, be it for good, holds up that lane and nobody else. What it leaves
///   quietly is in the workforce's queue, and a thread is woken for it if nobody comes.
/// - A helper touches one context. What it makes runnable in another goes the usual way.
/// - While somebody looks for work, no thread is woken for what comes to a lane's post. Whoever
///   ceases to look sees to what was left there.
/// - The system waits for a helper as for a thread of its own, as long as that has a job.
/// - A thread that carries actors does not help: no handler runs within another.
/// - Kernels find the floating-point mode of the library's threads, and callers keep their own.
/// Thread-safe, but for what says otherwise.
class Helping {
 public:
  /// For the actors of a context of so many lanes in `system`, whose workers `force` are.
  Helping(caf::actor_system& system, std::shared_ptr<Workforce> force, std::size_t lanes);
  Helping(const Helping&) = delete;
  Helping& operator=(const Helping&) = delete;
  ~Helping();

  // -- before the context is known to callers
  /// The next lane has this thread.
  void add_lane(std::shared_ptr<OwnThread::Post> post);
  void set_context(caf::actor_addr context);
  /// By a lane, as it starts: how it tells the length of its mail's next message, if that is an
  /// operation. Called by whoever has its job.
  void set_lane(std::size_t lane, std::function<Length()> next_length) {
    posts_.at(lane)->set_next_length(std::move(next_length));
  }

  /// Works for the context until `settled`, or until what comes next is not a helper's. Allocates
  /// nothing. Does nothing on a thread that carries actors, of this or of another system.
  void help(const std::atomic<bool>& settled);

  /// What callers' threads give as their execution unit with each call that they send: where one
  /// waited at once for what it called before, the context's job waits for it quietly.
  caf::execution_unit* door() noexcept;

  /// Whether this thread is a helper's, in the middle of it.
  static bool here() noexcept;
  /// By whoever has made an actor with a thread of its own runnable: true if this thread is a
  /// helper that takes the job.
  static bool offer(OwnThread::Post& post, caf::resumable* job) noexcept;

 private:
  class Helper;
  class Door final : public caf::execution_unit {
   public:
    explicit Door(Helping& helping) : caf::execution_unit(&helping.system_), helping_(helping) {}
    void exec_later(caf::resumable* job) override;

   private:
    Helping& helping_;
  };
  using Found = Workforce::Found;
  /// Takes a job of a lane, or the context's, that waits for a thread.
  Found look() noexcept;
  /// Likewise, again and again. Meanwhile no thread is woken for a lane's job.
  Found keep_looking(const std::atomic<bool>& settled) noexcept;
  void work_until(const std::atomic<bool>& settled);
  bool has(const OwnThread::Post& post) const noexcept;

  caf::actor_system& system_;
  const std::shared_ptr<Workforce> force_;
  Door door_{*this};
  /// Of the lanes: each is there before its lane's first step, while others are still to come.
  std::vector<std::shared_ptr<OwnThread::Post>> posts_;
  std::size_t added_ = 0;
  const std::shared_ptr<std::atomic<int>> lookers_ = std::make_shared<std::atomic<int>>(0);
  caf::actor_addr context_;  ///< weak: keeps the address from being another actor's
  const caf::resumable* context_job_ = nullptr;
};

}  // namespace polychron::msg
