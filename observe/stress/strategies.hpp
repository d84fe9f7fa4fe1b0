// Strategies of search among schedules, each under the name that its paper gave it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "observe/stress/strategy.hpp"

namespace polychron::stress {

/// Each in turn.
class RoundRobinStrategy final : public Strategy {
 public:
  std::size_t pick(std::span<const Runnable> runnables) override {
    return ++turn_ % runnables.size();
  }

 private:
  std::size_t turn_ = 0;
};

/// Probabilistic concurrency testing (Burckhardt et al., ASPLOS 2010): the runnable with the
/// highest priority runs, until one of `depth - 1` points among about `steps` steps lowers it.
class PctStrategy final : public Strategy {
 public:
  PctStrategy(std::uint64_t seed, std::size_t depth, std::size_t steps);
  std::size_t pick(std::span<const Runnable> runnables) override;
  std::optional<std::size_t> interrupt(const Runnable& running,
                                       std::span<const Runnable> runnables) override;

 private:
  std::uint64_t& priority(const Runnable& runnable);
  std::size_t best(std::span<const Runnable> runnables);
  std::mt19937_64 random_;
  std::map<std::pair<std::string_view, std::uint64_t>, std::uint64_t> priorities_;
  std::vector<std::size_t> changes_;  ///< numbers of steps, the next last
  std::size_t step_ = 0;
};

/// Partial order sampling (Yuan, Yang, Gu, CAV 2018): each possible next event has a priority of
/// its own. It is drawn anew when an event happens that does not commute with it.
class PosStrategy final : public Strategy {
 public:
  explicit PosStrategy(std::uint64_t seed) : random_(seed) {}
  std::size_t pick(std::span<const Runnable> runnables) override;
  std::optional<std::size_t> interrupt(const Runnable& running,
                                       std::span<const Runnable> runnables) override;

 private:
  std::mt19937_64 random_;
  std::map<std::pair<std::string_view, std::uint64_t>, std::uint64_t> priorities_;
};

/// The number of steps of each actor in a run, by kind and number.
using StepCounts = std::map<std::pair<std::string, std::uint64_t>, std::size_t>;

/// Selectively uniform random walk (Zhao, Wolff, Mathur, Roychoudhury, ASPLOS 2025), over all
/// events. Each actor's weight is the number of steps that it still has to make, as counted in an
/// earlier run. So every interleaving is about equally likely. Without counts it counts the steps,
/// and walks at random.
class SurwStrategy final : public Strategy {
 public:
  SurwStrategy(std::uint64_t seed, StepCounts counts) : random_(seed), left_(std::move(counts)) {}
  std::size_t pick(std::span<const Runnable> runnables) override;
  std::optional<std::size_t> interrupt(const Runnable& running,
                                       std::span<const Runnable> runnables) override;
  const StepCounts& made() const { return made_; }

 private:
  std::mt19937_64 random_;
  StepCounts left_, made_;
};

/// Repeats the steps of a run that showed something new, up to some place, and goes on at random:
/// coverage-guided search as in Fest (NSDI 2026).
class MutatingStrategy final : public Strategy {
 public:
  MutatingStrategy(std::uint64_t seed, Schedule prefix)
      : random_(seed), prefix_(std::move(prefix)) {}
  std::size_t pick(std::span<const Runnable> runnables) override;
  std::optional<std::size_t> interrupt(const Runnable& running,
                                       std::span<const Runnable> runnables) override;

 private:
  RandomStrategy random_;
  const Schedule prefix_;
  std::size_t at_ = 0;
};

}  // namespace polychron::stress
