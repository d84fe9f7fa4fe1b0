// The search: draws programs, runs each under some schedules, and reduces a finding to the few
// calls and choices that matter.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "observe/stress/program.hpp"
#include "observe/stress/run.hpp"

namespace polychron::stress {

enum class Search : std::uint8_t { mixed, random, pct, pos, surw, coverage, round_robin };
inline constexpr std::array searches{Search::mixed,      Search::random, Search::pct,
                                     Search::pos,        Search::surw,   Search::coverage,
                                     Search::round_robin};
/// "mixed", "random", "pct", ...
std::string_view to_string(Search search) noexcept;

/// A run that broke the contract, shrunk. Its run still shows `what`.
struct Finding {
  std::string what;
  Program program;
  Schedule schedule;
  std::uint64_t seed = 0;     ///< of the program that showed it first
  std::size_t schedules = 0;  ///< number tried before it
  /// The program and the schedule as one word, for replay().
  std::string token;
};

struct Exploration {
  std::uint64_t seed = 1, stride = 1;  ///< of the first program, and the step to the next
  std::uint64_t schedules = 1000;      ///< at most
  Search search = Search::mixed;
  Swarm swarm;
  bool shrinks = true;
};

struct Report {
  std::uint64_t schedules = 0, programs = 0, messages = 0;
  /// How many different ordered pairs of messages on an actor were seen after how many schedules.
  /// An entry for each time that there was a new one.
  std::vector<std::pair<std::uint64_t, std::size_t>> coverage;
  /// About how many states of a context were seen (see RunResult), after how many schedules. An
  /// entry each time that the number of schedules doubles.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> states;
  std::optional<Finding> finding;  ///< the first; it ends the search
};

/// Searches. Calls `go_on(report)` after each program; false ends the search.
Report explore(const Exploration& exploration,
               const std::function<bool(const Report&)>& go_on = {});

/// Removes calls, faults, options and choices while the run still shows `what`.
Finding shrink(Finding finding);

/// Runs the program and schedule of `token` again. Throws Error (bad_data). `recording` records
/// what the actors do.
RunResult replay(const std::string& token, Program* program = nullptr,
                 RunRecording* recording = nullptr);
std::string token_of(const Program& program, const Schedule& schedule);

}  // namespace polychron::stress
