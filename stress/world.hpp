// A world of actors in one thread: who handles the next message is picked by a strategy, so that
// any schedule can be tried, and tried again.
#pragma once

#include <caf/all.hpp>
#include <caf/scheduler/test_coordinator.hpp>
#include <cstdint>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "polychron/context.hpp"
#include "polychron/runtime.hpp"
#include "runtime/runtime_state.hpp"

namespace polychron::stress {

/// Decides which of `n` runnable actors handles its next message.
class Strategy {
 public:
  virtual ~Strategy() = default;
  virtual std::size_t pick(std::size_t n) = 0;
};

/// Uniformly at random, from a seed.
class RandomStrategy : public Strategy {
 public:
  explicit RandomStrategy(std::uint64_t seed) : random_(seed) {}
  std::size_t pick(std::size_t n) override { return static_cast<std::size_t>(random_() % n); }

 private:
  std::mt19937_64 random_;
};

/// Every schedule once, depth first: `while (next())` runs a world per schedule.
class ExhaustiveStrategy : public Strategy {
 public:
  std::size_t pick(std::size_t n) override;
  /// Goes on to the next schedule; false if all have been tried.
  bool next();

 private:
  struct Choice {
    std::size_t value, bound;
  };
  std::vector<Choice> path_;
  std::size_t at_ = 0;
};

/// Production's actors, a symbolic backend, and a scheduler that only moves when told to. Used by
/// one thread. Futures settle while run() or step() runs.
class World {
 public:
  /// `factory`: the backends of the contexts; by default the symbolic one.
  explicit World(Strategy& strategy, detail::BackendFactory factory = {});
  /// Destroys the runtime and lets every actor end. Handles must be gone.
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  /// Handles one message; false if nobody has one.
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
  actors::Census& census() { return state_->census(); }
  std::size_t steps() const { return steps_; }

 private:
  Strategy& strategy_;
  std::shared_ptr<msg::Clock::time_point> clock_ = std::make_shared<msg::Clock::time_point>();
  caf::actor_system_config config_;
  caf::actor_system system_;
  caf::scheduler::test_coordinator& scheduler_;
  std::shared_ptr<detail::RuntimeState> state_;
  std::unique_ptr<Runtime> runtime_;
  std::size_t steps_ = 0;
};

}  // namespace polychron::stress
