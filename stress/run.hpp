// Carries programs out on a World: clients make their calls, step by step, and whoever watches
// writes down what comes of them.
#pragma once

#include "stress/history.hpp"
#include "stress/run_recording.hpp"
#include "stress/strategy.hpp"
#include "stress/world.hpp"

namespace polychron::stress {

/// A pair of messages that an actor handled one after the other: kinds, by their numbers.
using MessagePair = std::uint32_t;

struct RunResult {
  std::vector<History> histories;  ///< of each context
  Schedule schedule;
  std::vector<MessagePair> pairs;  ///< that came up, each once
  /// Hashes of what a context was like after each message: which message each of its actors, by
  /// their kinds, had handled last.
  std::vector<std::uint64_t> states;
  std::size_t messages = 0;
  /// The first thing that breaks the contract.
  std::optional<std::string> finding;
};

/// Runs `program` as `strategy` says, to the end: everything is destroyed, and looked at. Many
/// runs, one after the other, take less time on one `stage`. `recording` takes down what the actors
/// do.
RunResult run(const Program& program, Strategy& strategy, Stage* stage = nullptr,
              RunRecording* recording = nullptr);

}  // namespace polychron::stress
