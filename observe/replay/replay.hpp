// Runs a recording again, in a world of one thread: the same calls and failures, in the same order
// of all that happened. Or runs other schedules of the same calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace polychron::replay {

struct Replayed {
  std::size_t contexts = 0, calls = 0;
  std::size_t left_out = 0;    ///< contexts that were not recorded from their beginning, or not all
  std::size_t operations = 0;  ///< that were carried out in the recording
  std::size_t errors = 0;      ///< of these
  std::size_t values = 0;      ///< answers to reads and computes
  bool contents = false;       ///< the bytes were recorded, too, and the answers' compared
  /// Where they differ, a sentence each; none: everything came as recorded.
  std::vector<std::string> differences;
  /// The recording of the replay, as Runtime::trace() gives it; time is logical.
  std::vector<std::byte> recording;
};

/// Throws Error (bad_data) for what is no recording, or one that cannot be run again: without
/// calls, or without the beginning of any context.
Replayed replay(std::span<const std::byte> recording);

struct Variation {
  std::uint64_t schedules = 1000, seed = 1;
};
struct Varied {
  std::uint64_t schedules = 0;
  /// The finding in the first schedule that broke the contract, and the seed of that schedule.
  std::optional<std::string> finding;
  std::uint64_t seed = 0;
  std::vector<std::byte> recording;  ///< of that
};
/// Makes the recorded calls under other schedules, each thread's in their order. Checks the rules
/// of all runs in each: every call is answered, trace::check, storage has one user at a time,
/// nobody stays behind. `go_on(schedules)` is called after each schedule; false ends it. Throws as
/// replay() does.
Varied vary(std::span<const std::byte> recording, const Variation& variation,
            const std::function<bool(std::uint64_t)>& go_on = {});

}  // namespace polychron::replay
