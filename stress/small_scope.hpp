// All programs of a few calls, each under all schedules: what is wrong in a small scope is found
// there for certain.
#pragma once

#include <functional>

#include "stress/explorer.hpp"

namespace polychron::stress {

/// Two programs that differ by the names of tensors or clients are one. Calls have no deadlines and
/// cancellations, and there are places enough: the reduction does not know what these depend on.
struct SmallScope {
  std::size_t calls = 2;  ///< exactly
  std::size_t clients = 2, tensors = 3;
  int lanes = 1;
  bool faults = true;  ///< each program also with each single fault that it can meet
};

/// Calls `f(program)` for each until it says false.
void each_small_program(const SmallScope& scope, const std::function<bool(const Program&)>& f);

struct SmallReport {
  std::uint64_t programs = 0, of_programs = 0;
  /// Schedules that were run; those among them that turned out to lead to what had been seen; steps
  /// after different beginnings.
  std::uint64_t schedules = 0, redundant = 0, states = 0;
  std::uint64_t messages = 0;
  std::optional<Finding> finding;  ///< the first; the search ends there
};

/// Runs every program whose number is `job` modulo `jobs`, in an order that soon has seen some of
/// all kinds. `go_on(report)` is called after each program; false ends it.
SmallReport explore_small(const SmallScope& scope,
                          const std::function<bool(const SmallReport&)>& go_on = {},
                          std::uint64_t job = 0, std::uint64_t jobs = 1);

/// All schedules of one program, into `report`; the number of schedules is returned.
std::uint64_t explore_all_schedules(const Program& program, SmallReport& report,
                                    Stage* stage = nullptr);

}  // namespace polychron::stress
