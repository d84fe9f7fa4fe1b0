// A world of actors in one thread: who handles the next message is picked by a strategy, so that
// any schedule can be tried, and tried again.
#pragma once

#include <caf/all.hpp>
#include <caf/scheduler/test_coordinator.hpp>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "polychron/context.hpp"
#include "polychron/runtime.hpp"
#include "runtime/runtime_state.hpp"
#include "stress/strategy.hpp"

namespace polychron::stress {

/// Production's actors, a symbolic backend, and a scheduler that only moves when told to. Used by
/// one thread. Futures settle while run() or step() runs, and callbacks are steps of their own. A
/// call that has to wait lets the world go on until it need not; where nobody can, it throws
/// quota_exceeded.
class World {
 public:
  /// `factory`: the backends of the contexts; by default the symbolic one.
  explicit World(Strategy& strategy, detail::BackendFactory factory = {});
  /// Destroys the runtime and lets every actor end. Handles must be gone.
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  /// Handles one message, or runs one callback; false if there is none.
  bool step();
  /// Until nobody has a message.
  void run() {
    while (step()) {
    }
  }
  /// Lets the world run until `future` is settled, not further, and gives its result. Throws if the
  /// world comes to rest before: the reply would not come however long this waited.
  template <class T>
  Result<T> settle(Future<T> future) {
    while (!future.ready() && step()) {
    }
    if (!future.ready()) throw std::logic_error("the world is at rest, and the reply is not there");
    return future.take();
  }

  /// The time that actors see; it moves only by advance().
  msg::Clock::time_point now() const { return *clock_; }
  void advance(std::chrono::milliseconds by) { *clock_ += by; }

  Runtime& runtime() { return *runtime_; }
  caf::actor_system& system() { return system_; }
  msg::Census& census() { return state_->census(); }
  std::size_t steps() const { return schedule_.size(); }
  /// What was picked so far: with a ReplayStrategy, the same program takes the same steps.
  const Schedule& schedule() const { return schedule_; }
  /// What callbacks have thrown so far.
  std::uint64_t callback_exceptions() const { return runtime_->callback_exceptions(); }

 private:
  Strategy& strategy_;
  std::shared_ptr<msg::Clock::time_point> clock_ = std::make_shared<msg::Clock::time_point>();
  caf::actor_system_config config_;
  caf::actor_system system_;
  caf::scheduler::test_coordinator& scheduler_;
  std::shared_ptr<detail::RuntimeState> state_;
  std::unique_ptr<Runtime> runtime_;
  std::deque<std::function<void()>> callbacks_;
  std::vector<Runnable> runnables_;  ///< reused by every step
  Schedule schedule_;
};

}  // namespace polychron::stress
