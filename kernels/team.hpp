// The threads that share the parts of a lane's steps: the lane's own, and helpers.
//
// The calling thread takes part after part and never waits for a sleeping thread. Helpers take the
// parts that are left when they wake. The parts of a step (Bound::parts) are the same whichever
// thread runs them.
//
// Each thread begins at its own share of the parts, in every step. The data that a part reads has
// then often been written by the same core. After its last part a helper spins and yields for about
// 100 us, then blocks.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "kernels/kernel.hpp"
#include "kernels/team_core.hpp"

namespace polychron::kernels {

/// Real threads, and the steps of a plan.
struct TeamMachine {
  template <class T>
  using Atomic = std::atomic<T>;
  using Step = Bound;

  /// Waits for a moment, and says how long to go on: about 100 us in all.
  class Spin {
   public:
    bool again() noexcept;

   private:
    int looks_ = 0;
  };
};

/// The executions that are under way in all contexts of a runtime.
struct Executions {
  std::atomic<int> count{0};
};

/// The lanes of a context and the helpers that they share.
class Crew {
 public:
  /// `cores` counts a lane's own thread: there is one helper less. If it throws std::system_error
  /// or std::bad_alloc, it has joined the threads that it had started.
  Crew(std::size_t lanes, std::size_t cores, std::shared_ptr<Executions> all);
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  /// No thread may be in Team::run(). Ends the helpers.
  ~Crew();

 private:
  friend class Team;
  void end() noexcept;

  const std::shared_ptr<Executions> all_;
  SharedSteps<TeamMachine> steps_;
  std::vector<std::thread> threads_;
};

/// A lane's part in a crew.
class Team {
 public:
  static constexpr std::size_t most_parts = kernels::most_parts;

  Team(std::shared_ptr<Crew> crew, std::size_t lane) : crew_(std::move(crew)), lane_(lane) {}
  /// A team with helpers of its own. `threads` counts the caller of run().
  explicit Team(int threads);

  /// The most threads that share a step.
  std::size_t size() const noexcept { return crew_->steps_.cores(); }
  /// Runs each of the `parts` parts of `step` once, in any order. When all have ended, it rethrows
  /// the exception of the first part that failed. One caller at a time, on any thread.
  void run(Bound& step, std::size_t parts);
  /// The number of steps that have run. Only for the last caller of run(), or a thread ordered
  /// after it.
  std::uint32_t steps() const noexcept { return crew_->steps_.steps(lane_); }

  /// While it lives, an execution of the lane takes a core from the crew's helpers.
  class Execution {
   public:
    explicit Execution(Team* team) noexcept : team_(team) {
      if (team_ != nullptr) team_->crew_->steps_.begin();
    }
    Execution(const Execution&) = delete;
    Execution& operator=(const Execution&) = delete;
    ~Execution() {
      if (team_ != nullptr) team_->crew_->steps_.end();
    }

   private:
    Team* const team_;
  };

 private:
  const std::shared_ptr<Crew> crew_;
  const std::size_t lane_;
};

}  // namespace polychron::kernels
