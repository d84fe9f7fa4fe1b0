// Runs an embedder's own code under many schedules. A strategy decides which client makes the next
// call, which actor handles a message, and when a callback runs. Findings can be replayed. See
// docs/stress.md; link with polychron::stress.
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

/// A simulated world in one thread: a runtime with simulated time, and clients that use it.
/// search() and replay() make one for each run. Use it only on the thread that called them.
class Simulation {
 public:
  struct State;  ///< the library's own
  /// For the library only: search() and replay() make one.
  explicit Simulation(State& state) : state_(state) {}
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  /// The world's runtime. Its contexts compute as usual ("cpu"). get() and wait() on its futures
  /// step the world until the reply is there, and throw invalid_state if it can never come. A
  /// finding contains the recording; start_trace() records nothing.
  Runtime& runtime();
  /// Same as runtime().create_context(options).get().
  Context create_context(const ContextOptions& options = {});

  /// Adds a client, which acts like a thread of its own. Its steps run in order; the work of others
  /// may come between them, and between the calls inside a step. An exception from a step is a
  /// finding.
  void client(std::string name, std::vector<std::function<void()>> steps);
  /// Runs until all clients have made all steps and no work is left. Throws if a step threw; the
  /// steps after it do not run.
  void run();

  /// The simulated time, which decides deadlines. It starts at the clock's epoch; only advance()
  /// moves it.
  std::chrono::steady_clock::time_point now() const;
  /// Advances the simulated time.
  void advance(std::chrono::milliseconds by);
  /// Makes the `nth` dispatch or compute from now on (1: the next) that reaches its kernel fail.
  void fail_kernel(std::uint64_t nth, ErrorKind kind = ErrorKind::operation_error);

 private:
  State& state_;
};

/// The code under test. It makes contexts and clients, calls run(), and throws any std::exception
/// if the outcome is wrong. It is called once for each schedule and must be deterministic: no
/// outside clock, thread, random number or leftover state. Pending replies settle after it has
/// returned: call run() first if callbacks refer to its local variables.
using Scenario = std::function<void(Simulation&)>;

/// Options of search().
struct SearchOptions {
  std::uint64_t seed = 1;          ///< another seed searches other schedules
  std::uint64_t schedules = 1000;  ///< the most schedules to try
  /// "random", "pct", "pos", "round-robin", or "mixed": the first three in turn.
  std::string strategy = "mixed";
  /// A client's step may start in the middle of another one's. Switch this off if steps wait for
  /// each other, for a lease or for admission: a step that waits inside another one cannot proceed.
  bool nested = true;
};

/// A run in which an error was found.
struct SearchFinding {
  std::string what;  ///< the exception, or the fault that the world found
  /// The clients' steps, in the order in which they started: "reader, step 2", "loader, step 1 (in
  /// the middle of reader, step 2)".
  std::vector<std::string> steps;
  std::uint64_t schedules = 0;  ///< number of schedules tried
  std::string token;            ///< for replay() with the same scenario and the same library
  /// A recording of the run, for save_trace() and `polychron trace`: actors, messages and
  /// operations. Each event takes one microsecond of simulated time.
  std::vector<std::byte> trace;
};

/// The result of search().
struct SearchReport {
  std::uint64_t schedules = 0;           ///< number of schedules tried
  std::optional<SearchFinding> finding;  ///< the first finding, which ends the search
};

/// Runs `scenario` under many schedules. Findings are: an exception from it, a world that never
/// comes to rest, an actor or handle that outlives it, a callback that throws, and memory that two
/// operations use at once. The search cuts a finding's schedule as short as it can. Throws Error:
/// type_error (no such strategy).
SearchReport search(const Scenario& scenario, const SearchOptions& options = {});

/// Runs `scenario` once more under the token's schedule. Gives nullopt if the run now succeeds.
/// Throws Error: bad_data (not a token, or a token of another scenario).
std::optional<SearchFinding> replay(const Scenario& scenario, const std::string& token);

}  // namespace polychron::stress
