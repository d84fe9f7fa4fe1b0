// The search: draws programs, runs each under some schedules, and brings what it finds down to the
// few calls and choices that matter.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "stress/program.hpp"
#include "stress/run.hpp"

namespace polychron::stress {

enum class Search : std::uint8_t { mixed, random, pct, pos, surw, coverage, round_robin };
inline constexpr std::array searches{Search::mixed,      Search::random, Search::pct,
                                     Search::pos,        Search::surw,   Search::coverage,
                                     Search::round_robin};
/// "mixed", "random", "pct", ...
std::string_view to_string(Search search) noexcept;

/// A run that broke the contract, shrunk: `what` is still seen.
struct Finding {
  std::string what;
  Program program;
  Schedule schedule;
  std::uint64_t seed = 0;     ///< of the program that it was found in
  std::size_t schedules = 0;  ///< that had been tried
  /// All of that in one word, for replay().
  std::string token;
};

struct Exploration {
  std::uint64_t seed = 1, stride = 1;  ///< of the first program, and to the next
  std::uint64_t schedules = 1000;      ///< at most
  Search search = Search::mixed;
  Swarm swarm;
  bool shrinks = true;
};

struct Report {
  std::uint64_t schedules = 0, programs = 0, messages = 0;
  /// How many ordered pairs of messages on an actor were seen, after so many schedules: whenever
  /// there was a new one.
  std::vector<std::pair<std::uint64_t, std::size_t>> coverage;
  /// About how many states of a context were seen (see RunResult), likewise: whenever the number of
  /// schedules doubled.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> states;
  std::optional<Finding> finding;  ///< the first; the search ends there
};

/// Searches. `go_on(report)` is called after each program; false ends it.
Report explore(const Exploration& exploration,
               const std::function<bool(const Report&)>& go_on = {});

/// Takes away calls, faults, options and choices for as long as `what` is found.
Finding shrink(Finding finding);

/// The program and schedule of `token`, and what a run of them finds now. Throws Error (bad_data).
/// `recording` takes down what the actors do.
RunResult replay(const std::string& token, Program* program = nullptr,
                 RunRecording* recording = nullptr);
std::string token_of(const Program& program, const Schedule& schedule);

}  // namespace polychron::stress
