// Runs programs on a World: clients make their calls, step by step, and watchers note the results.
#pragma once

#include "observe/stress/history.hpp"
#include "observe/stress/run_recording.hpp"
#include "observe/stress/strategy.hpp"
#include "observe/stress/world.hpp"

namespace polychron::stress {

/// A pair of messages that an actor handled one after the other: the numbers of their kinds.
using MessagePair = std::uint32_t;

struct RunResult {
  std::vector<History> histories;  ///< one for each context
  Schedule schedule;
  std::vector<MessagePair> pairs;  ///< that came up, each once
  /// Hashes of a context's state after each message: which message each of its actors, by kind,
  /// handled last.
  std::vector<std::uint64_t> states;
  std::size_t messages = 0;
  /// The first breach of the contract.
  std::optional<std::string> finding;
};

/// Runs `program` under `strategy` to the end: everything is destroyed, and what is left is
/// checked. A sequence of runs takes less time on one `stage`. `recording` records what the actors
/// do.
RunResult run(const Program& program, Strategy& strategy, Stage* stage = nullptr,
              RunRecording* recording = nullptr);

}  // namespace polychron::stress
