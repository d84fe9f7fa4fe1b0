// An embedder's own code under searched schedules: which of its clients makes the next call, which
// actor handles a message, when a callback runs, and who comes between, is decided by a strategy.
// What it finds can be replayed. See docs/stress.md; link polychron::stress.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "polychron/runtime.hpp"

namespace polychron::stress {

/// A world in one thread: a runtime whose time is simulated, and clients that use it. Made by
/// search() and replay(), for one run. Used on the thread that they are called on.
class Simulation {
 public:
  struct State;  ///< the library's own
  /// The library's own way to make one: search() and replay() do.
  explicit Simulation(State& state) : state_(state) {}
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  /// Contexts made by it compute as ever ("cpu"); a finding has their recording, start_trace() has
  /// none. get() and wait() on its futures let the world go
  /// on until the reply is there, and throw invalid_state if it never can be.
  Runtime& runtime();
  /// runtime().create_context(options).get()
  Context create_context(const ContextOptions& options = {});

  /// Somebody who makes calls on a thread of its own, as far as others can tell. Its steps are made
  /// one after the other; whatever the others do may come between them, and between the calls in
  /// them. What a step throws is a finding.
  void client(std::string name, std::vector<std::function<void()>> steps);
  /// Until all clients have made their steps, and nobody has anything left to do. Throws if a step
  /// threw: then no other is made.
  void run();

  /// The time that deadlines are held against. Begins with the clock's epoch; only advance() moves
  /// it.
  std::chrono::steady_clock::time_point now() const;
  /// Moves the time on.
  void advance(std::chrono::milliseconds by);
  /// The `nth` dispatch or compute from here on (1: the next) that gets to its kernel fails.
  void fail_kernel(std::uint64_t nth, ErrorKind kind = ErrorKind::operation_error);

 private:
  State& state_;
};

/// What is searched: makes contexts and clients, calls run(), and throws (anything that is a
/// std::exception) if what came of it is wrong. It is called once for each schedule and must do the
/// same each time: it begins anew, and asks no clock, thread or random number of the outside. What
/// it leaves pending still settles when it has returned: callbacks that refer to what is its own
/// want a run() before.
using Scenario = std::function<void(Simulation&)>;

/// Options of search().
struct SearchOptions {
  std::uint64_t seed = 1;          ///< another one searches other schedules
  std::uint64_t schedules = 1000;  ///< at most
  /// "random", "pct", "pos", "round-robin", or "mixed": the first three in turn.
  std::string strategy = "mixed";
  /// A client's step may begin in the middle of another's. Those that wait for each other, for a
  /// lease or a place, cannot go on there: switch it off for them.
  bool nested = true;
};

/// A run in which something went wrong.
struct SearchFinding {
  std::string what;  ///< what was thrown, or what the world saw
  /// That clients made, in the order in which they began: "reader, step 2", "loader, step 1 (in the
  /// middle of reader, step 2)".
  std::vector<std::string> steps;
  std::uint64_t schedules = 0;  ///< that had been tried
  std::string token;            ///< for replay() of the same scenario, with the same library
  /// A recording of the run: of its contexts' actors, messages and operations, where whatever
  /// happens takes one microsecond. For save_trace() and `polychron trace`.
  std::vector<std::byte> trace;
};

/// What search() gives back.
struct SearchReport {
  std::uint64_t schedules = 0;           ///< that were tried
  std::optional<SearchFinding> finding;  ///< the first; the search ends there
};

/// Runs `scenario` under many schedules. Besides what it throws these are findings: a world that
/// does not come to rest, an actor or a handle that stays when it has returned, a callback that
/// throws, memory that two use at once. The schedule of a finding is as short as its end can be
/// left out. Throws Error: type_error (no such strategy).
SearchReport search(const Scenario& scenario, const SearchOptions& options = {});

/// Runs `scenario` once more as the token says. Nothing if nothing goes wrong now. Throws Error:
/// bad_data (no token, or the scenario is not the one that it was made with).
std::optional<SearchFinding> replay(const Scenario& scenario, const std::string& token);

}  // namespace polychron::stress
