// A world of actors in one thread. A strategy picks who handles the next message, so that any
// schedule can be tried, and repeated.
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

#include "observe/stress/strategy.hpp"
#include "polychron/context.hpp"
#include "polychron/runtime.hpp"
#include "runtime/runtime_state.hpp"

namespace polychron::stress {

/// A caller outside of the runtime, which makes a call or a few in each step.
class Client {
 public:
  virtual ~Client() = default;
  /// True if it could make a step now.
  virtual bool ready() const = 0;
  virtual void step() = 0;
};

/// Parts of a world that are slow to make. One world after the other may use them, never two at
/// once.
class Stage {
 public:
  Stage();
  ~Stage();

 private:
  friend class World;
  struct System;
  std::unique_ptr<System> system_;  ///< null after a world in which an actor stayed
};

/// Production's actors, a symbolic backend, and a scheduler that only moves when told to. Used by
/// one thread. Futures settle while run() or step() runs, and callbacks are steps of their own. A
/// call that has to wait lets the world go on until it need not. If no other step is possible, it
/// throws quota_exceeded.
class World {
 public:
  /// `factory`: the backends of the contexts; by default the symbolic one. `stage`: used while this
  /// lives; without one the world makes its own.
  explicit World(Strategy& strategy, detail::BackendFactory factory = {}, Stage* stage = nullptr);
  /// Destroys the runtime and lets every actor end. No handle may be left.
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  /// Handles one message, runs one callback, or lets one client make a step; false if no step is
  /// possible.
  bool step();
  /// From here on `clients` make steps too. They must outlive their use. Clients that `may_block`
  /// make no step within another's step, which could not go on meanwhile. Neither do callbacks
  /// then.
  void set_clients(std::vector<Client*> clients, bool may_block = false) {
    clients_ = std::move(clients);
    clients_block_ = may_block;
  }
  /// From here on `devices` make steps too, also in the middle of others' steps: as hardware does.
  /// They must outlive the world's steps.
  void set_devices(std::vector<Client*> devices) { devices_ = std::move(devices); }
  /// Callbacks, and clients that wait for replies, make no step in the middle of an actor's step,
  /// which could not go on meanwhile.
  void spare_actors(bool spared) { spares_actors_ = spared; }
  /// Callbacks wait, as with an executor that takes them and runs none.
  void hold_callbacks(bool held) { callbacks_held_ = held; }
  /// Called within a step, where another thread might come between. The strategy may let another
  /// runnable make a step first. Does nothing unless interrupts are allowed.
  void interrupt() noexcept;
  void allow_interrupts(bool allowed) { interrupts_ = allowed; }
  /// Observes the contexts that are made from here on.
  void observe(std::shared_ptr<msg::Observer> observer) { state_->observe(std::move(observer)); }
  /// Observes each of them by what `make` returns for it.
  void observe(detail::RuntimeState::ObserverOf make) { state_->observe(std::move(make)); }
  /// Places the operations of contexts made from here on; see RuntimeState::place.
  void place(msg::Placement placement) { state_->place(std::move(placement)); }
  /// The number of the client that is in the middle of a step, if the innermost step is a client's.
  std::optional<std::size_t> client_at_work() const;
  /// A callback is in the middle of a step, the innermost one.
  bool callback_at_work() const { return !running_.empty() && running_.back().is_callbacks(); }
  /// Until no message is left.
  void run() {
    while (step()) {
    }
  }
  /// Runs the world until `future` is settled, not further, and returns its result. Throws if the
  /// world comes to rest before that: no further step would bring the reply.
  template <class T>
  Result<T> settle(Future<T> future) {
    while (!future.ready() && step()) {
    }
    if (!future.ready()) throw std::logic_error("the world is at rest, and the reply is not there");
    return future.take();
  }

  /// The time that actors see; only advance() moves it.
  msg::Clock::time_point now() const { return *clock_; }
  void advance(std::chrono::milliseconds by) { *clock_ += by; }
  /// Frees the scratch memory of lanes that have been idle for long. In production a thread does.
  void look_for_idle() { state_->look_for_idle(); }

  Runtime& runtime() { return *runtime_; }
  caf::actor_system& system() { return system_; }
  /// The actors of this world have higher numbers.
  caf::actor_id first_id() const { return first_id_; }
  msg::ActorRegistry& registry() { return state_->registry(); }
  std::size_t steps() const { return schedule_.size(); }
  /// The world has made as many steps as it may. It is at rest for good.
  bool exhausted() const { return schedule_.size() >= most_steps_; }
  void set_most_steps(std::size_t steps) { most_steps_ = steps; }
  /// The picks so far. With a ReplayStrategy, the same program takes the same steps.
  const Schedule& schedule() const { return schedule_; }
  /// The number of exceptions that callbacks have thrown so far.
  std::uint64_t callback_exceptions() const { return runtime_->callback_exceptions(); }

 private:
  /// Fills runnables_ with everybody who could make a step now.
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
  std::vector<Client*> clients_, devices_;
  std::vector<Runnable> running_;  ///< the innermost step's last
  std::size_t most_steps_ = 200'000;
  bool clients_block_ = false, spares_actors_ = false, interrupts_ = false, callbacks_held_ = false;
  std::exception_ptr interrupted_by_;  ///< thrown by an interrupt: the next step throws it
  Schedule schedule_;
  // After what interrupt() reads: the state may call it as soon as it is made.
  std::shared_ptr<detail::RuntimeState> state_;
  std::unique_ptr<Runtime> runtime_;
};

}  // namespace polychron::stress
