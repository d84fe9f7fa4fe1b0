// A world of actors in one thread: who handles the next message is picked by a strategy, so that
// any schedule can be tried, and tried again.
#pragma once

#include <caf/all.hpp>
#include <caf/scheduler/test_coordinator.hpp>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "polychron/context.hpp"
#include "polychron/runtime.hpp"
#include "runtime/runtime_state.hpp"
#include "stress/strategy.hpp"

namespace polychron::stress {

/// Somebody outside of the runtime who makes calls, one or a few a step.
class Client {
 public:
  virtual ~Client() = default;
  /// It could make a step now.
  virtual bool ready() const = 0;
  virtual void step() = 0;
};

/// What worlds need that is slow to make: one after the other may use it, none at the same time.
class Stage {
 public:
  Stage();
  ~Stage();

 private:
  friend class World;
  struct System;
  std::unique_ptr<System> system_;  ///< null after a world that left somebody behind
};

/// Production's actors, a symbolic backend, and a scheduler that only moves when told to. Used by
/// one thread. Futures settle while run() or step() runs, and callbacks are steps of their own. A
/// call that has to wait lets the world go on until it need not; where nobody can, it throws
/// quota_exceeded.
class World {
 public:
  /// `factory`: the backends of the contexts; by default the symbolic one.
  /// `stage`: used while this lives; without one it makes its own.
  explicit World(Strategy& strategy, detail::BackendFactory factory = {}, Stage* stage = nullptr);
  /// Destroys the runtime and lets every actor end. Handles must be gone.
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  /// Handles one message, runs one callback, or lets one client make a step; false if there is
  /// nobody who could.
  bool step();
  /// From here on `clients` are among those who make steps. They must outlive their use. Such as
  /// may have to wait make none within another's step, who could not go on meanwhile; neither do
  /// callbacks then.
  void set_clients(std::vector<Client*> clients, bool may_block = false) {
    clients_ = std::move(clients);
    clients_block_ = may_block;
  }
  /// Callbacks and clients that wait for replies make no step in the middle of an actor's, who
  /// could not go on meanwhile.
  void spare_actors(bool spared) { spares_actors_ = spared; }
  /// Callbacks wait, as with an executor that takes them and runs none.
  void hold_callbacks(bool held) { callbacks_held_ = held; }
  /// For whoever stands within a step where another thread might come between: the strategy may let
  /// somebody else make a step first. Does nothing unless allowed.
  void interrupt() noexcept;
  void allow_interrupts(bool allowed) { interrupts_ = allowed; }
  /// Of contexts made from here on.
  void observe(std::shared_ptr<msg::Observer> observer) { state_->observe(std::move(observer)); }
  /// Likewise, each by what `make` returns for it.
  void observe(detail::RuntimeState::ObserverOf make) { state_->observe(std::move(make)); }
  /// Likewise, where their operations go; see RuntimeState::place.
  void place(msg::Placement placement) { state_->place(std::move(placement)); }
  /// The number of the client that is in the middle of a step, if the innermost step is one's.
  std::optional<std::size_t> client_at_work() const;
  /// A callback is in the middle of a step, and the innermost.
  bool callback_at_work() const { return !running_.empty() && running_.back().is_callbacks(); }
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
  /// The actors of this world have higher numbers.
  caf::actor_id first_id() const { return first_id_; }
  msg::Census& census() { return state_->census(); }
  std::size_t steps() const { return schedule_.size(); }
  /// It has made as many steps as it may. Then it is at rest for good.
  bool exhausted() const { return schedule_.size() >= most_steps_; }
  void set_most_steps(std::size_t steps) { most_steps_ = steps; }
  /// What was picked so far: with a ReplayStrategy, the same program takes the same steps.
  const Schedule& schedule() const { return schedule_; }
  /// What callbacks have thrown so far.
  std::uint64_t callback_exceptions() const { return runtime_->callback_exceptions(); }

 private:
  /// Who could make a step now, into runnables_.
  void collect();
  void go(std::size_t pick);

  Strategy& strategy_;
  std::shared_ptr<msg::Clock::time_point> clock_ = std::make_shared<msg::Clock::time_point>();
  Stage own_stage_;
  Stage& stage_;
  caf::actor_system& system_;
  caf::scheduler::test_coordinator& scheduler_;
  const caf::actor_id first_id_;
  std::deque<std::function<void()>> callbacks_;
  std::vector<Runnable> runnables_;  ///< reused by every step
  std::vector<Client*> clients_;
  std::vector<Runnable> running_;  ///< the innermost step's last
  std::size_t most_steps_ = 200'000;
  bool clients_block_ = false, spares_actors_ = false, interrupts_ = false, callbacks_held_ = false;
  std::exception_ptr interrupted_by_;  ///< what an interrupt threw: the next step does
  Schedule schedule_;
  // After what interrupt() reads: the state may call it as soon as it is made.
  std::shared_ptr<detail::RuntimeState> state_;
  std::unique_ptr<Runtime> runtime_;
};

}  // namespace polychron::stress
