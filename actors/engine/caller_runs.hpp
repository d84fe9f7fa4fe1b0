// A thread that waits for a reply runs the jobs that the reply depends on. To wake other threads,
// and to be woken by them, takes many times as long as a small operation.
#pragma once

#include <atomic>
#include <caf/all.hpp>
#include <memory>

#include "actors/engine/caller.hpp"
#include "actors/engine/thread_pool.hpp"
#include "messages/shared/caller_work.hpp"

namespace polychron::engine {

/// The jobs that a caller may run while it waits for a reply of a context. They are those of the
/// context's actor, of its tensors' and graphs' actors, and operations of its lanes that are known
/// to be short. Invariants:
/// - Only the thread that holds an actor's job runs the actor. So results do not depend on the
///   thread.
/// - A caller touches one context.
/// - The actor system waits for a caller that holds a job as for a thread of its own.
/// - A thread that carries actors does not run others': no handler runs within another.
/// - Kernels find the floating-point mode of the library's threads, and callers keep their own.
/// Thread-safe, except as noted.
class CallerRuns final : public msg::CallerWork {
 public:
  using Slot = JobSlot<Machine>;

  /// For a context in `system`, whose scheduler is `pool`.
  CallerRuns(caf::actor_system& system, std::shared_ptr<ThreadPool> pool);
  CallerRuns(const CallerRuns&) = delete;
  CallerRuns& operator=(const CallerRuns&) = delete;
  ~CallerRuns() override;

  /// Before the context is known to callers.
  void set_context(caf::actor_addr context);

  /// Returns once `settled`, or when the caller should block. Allocates nothing. Does nothing on a
  /// thread that carries actors, of this or of another system.
  void work_until(const std::atomic<bool>& settled) override;

  /// The execution unit that a caller's thread passes with each call. The context's job is deferred
  /// if this thread waited after its last call.
  caf::execution_unit* calls() noexcept { return &calls_; }

  /// True if this thread is a caller that runs a job.
  static bool here() noexcept;
  /// True if this thread is a caller that keeps the lane's job for itself.
  static bool keeps(Slot& slot, caf::resumable* job) noexcept;

 private:
  class Unit;
  class Calls final : public caf::execution_unit {
   public:
    explicit Calls(CallerRuns& of) : caf::execution_unit(&of.system_), of_(of) {}
    void exec_later(caf::resumable* job) override;

   private:
    CallerRuns& of_;
  };

  caf::actor_system& system_;
  const std::shared_ptr<ThreadPool> pool_;
  Calls calls_{*this};
  caf::actor_addr context_;  ///< weak: keeps the address from being another actor's
  const caf::resumable* context_job_ = nullptr;
};

}  // namespace polychron::engine
