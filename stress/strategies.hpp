// Ways to search among schedules, each by the name that its paper gave it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stress/strategy.hpp"

namespace polychron::stress {

/// Everybody in turn.
class RoundRobinStrategy final : public Strategy {
 public:
  std::size_t pick(std::span<const Runnable> runnables) override {
    return ++turn_ % runnables.size();
  }

 private:
  std::size_t turn_ = 0;
};

/// Probabilistic concurrency testing (Burckhardt et al., ASPLOS 2010): whoever has the highest
/// priority runs, until one of `depth - 1` points among about `steps` steps lowers it.
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
  std::vector<std::size_t> changes_;  ///< steps, the next last
  std::size_t step_ = 0;
};

/// Partial order sampling (Yuan, Yang, Gu, CAV 2018): each event that could be next has a priority
/// of its own, drawn anew when one that it does not commute with has happened.
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

/// How many steps each actor made in a run, by kind and number.
using StepCounts = std::map<std::pair<std::string, std::uint64_t>, std::size_t>;

/// Selectively uniform random walk (Zhao, Wolff, Mathur, Roychoudhury, ASPLOS 2025), of all events:
/// each actor runs with the weight of what it has still to do, as a run before told; so every
/// interleaving is about as likely as any other. Without counts it notes them, and walks at random.
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

/// Takes the steps of a run that showed something new up to some place, and goes on at random from
/// there: coverage-guided search as in Fest (NSDI 2026).
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
