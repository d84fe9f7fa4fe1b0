// A thread that one actor has to itself: for lanes and compilers, whose handlers take long.
#pragma once

#include <caf/all.hpp>
#include <memory>

#include "actors/engine/job_slot.hpp"
#include "actors/engine/platform.hpp"

namespace polychron::engine {

/// The thread exists before the actor does. CAF's own way (caf::detached) makes the thread while
/// the actor is launched. It does not survive a lack of memory or threads then (0.17.6,
/// private_thread.cpp, scheduled_actor.cpp: launch, cleanup). The actor system waits for these
/// threads as it does for its own.
class OwnThread {
 public:
  using Slot = JobSlot<Machine>;

  /// Throws std::system_error or std::bad_alloc, and then nothing is left of it.
  explicit OwnThread(caf::actor_system& system);
  OwnThread(const OwnThread&) = delete;
  OwnThread& operator=(const OwnThread&) = delete;
  /// The thread ends, once it has let go of its actor.
  ~OwnThread();

  /// For the thread that makes the actor runnable; CAF tells one until the actor has run. Takes
  /// over the caller's share of `job`. A caller that runs jobs of the actor's context keeps the job
  /// for itself.
  void resume(caf::resumable* job) noexcept;
  const std::shared_ptr<Slot>& slot() const noexcept { return slot_; }

 private:
  static void serve(Slot& slot, caf::actor_system& system);
  const std::shared_ptr<Slot> slot_;
};

}  // namespace polychron::engine
