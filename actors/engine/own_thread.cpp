#include "actors/engine/own_thread.hpp"

#include <caf/scoped_execution_unit.hpp>
#include <limits>
#include <thread>

#include "actors/engine/caller_runs.hpp"
#include "kernels/threads.hpp"

namespace polychron::engine {

OwnThread::OwnThread(caf::actor_system& system) : slot_(std::make_shared<Slot>()) {
  system.inc_detached_threads();
  try {
    std::thread([slot = slot_, &system] {
      serve(*slot, system);
      system.dec_detached_threads();  // from here on the system may be gone
    }).detach();
  } catch (...) {
    system.dec_detached_threads();
    throw;
  }
}

OwnThread::~OwnThread() { slot_->close(); }

void OwnThread::serve(Slot& slot, caf::actor_system& system) {
  system.thread_started();
  kernels::use_standard_arithmetic();
  {
    caf::scoped_execution_unit unit(&system);
    constexpr auto all_messages = std::numeric_limits<std::size_t>::max();
    while (auto* const job = slot.await()) {
      const bool ended = job->resume(&unit, all_messages) != caf::resumable::awaiting_message;
      caf::intrusive_ptr_release(job);  // may be the last share, which closes the slot
      if (ended) break;
    }
  }
  system.thread_terminates();
}

void OwnThread::resume(caf::resumable* job) noexcept {
  if (!CallerRuns::keeps(*slot_, job)) slot_->put(job);
}

}  // namespace polychron::engine
