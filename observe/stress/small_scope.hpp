// All programs of a few calls, each under all schedules. A defect that shows in a small scope is
// found for certain.
#pragma once

#include <functional>

#include "observe/stress/explorer.hpp"

namespace polychron::stress {

/// Programs that differ only by the names of tensors or clients count as one. Calls have no
/// deadlines or cancellations, and there are enough permits: the reduction does not know what these
/// depend on.
struct SmallScope {
  std::size_t calls = 2;  ///< exactly
  std::size_t clients = 2, tensors = 3;
  int lanes = 1;
  bool faults = true;  ///< each program also runs with each single fault that it can meet
};

/// Calls `f(program)` for each until it says false.
void each_small_program(const SmallScope& scope, const std::function<bool(const Program&)>& f);

struct SmallReport {
  std::uint64_t programs = 0, of_programs = 0;
  /// Schedules that were run. Those among them that led only to known states. Steps after different
  /// beginnings.
  std::uint64_t schedules = 0, redundant = 0, states = 0;
  std::uint64_t messages = 0;
  std::optional<Finding> finding;  ///< the first; it ends the search
};

/// Runs every program whose number is `job` modulo `jobs`, in an order that soon has seen some of
/// each kind. Calls `go_on(report)` after each program; false ends the search.
SmallReport explore_small(const SmallScope& scope,
                          const std::function<bool(const SmallReport&)>& go_on = {},
                          std::uint64_t job = 0, std::uint64_t jobs = 1);

/// Adds all schedules of one program to `report`, and returns their number.
std::uint64_t explore_all_schedules(const Program& program, SmallReport& report,
                                    Stage* stage = nullptr);

}  // namespace polychron::stress
