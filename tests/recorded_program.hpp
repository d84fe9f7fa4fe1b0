// Random programs of the stress tool, with a recording of the run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "observe/stress/program.hpp"
#include "observe/stress/run.hpp"
#include "observe/stress/run_recording.hpp"
#include "observe/stress/strategy.hpp"

namespace polychron::testing {

struct RecordedProgram {
  stress::Program program;
  stress::RunResult result;
  std::vector<std::byte> recording;
};

inline RecordedProgram recorded_program(std::uint64_t seed) {
  RecordedProgram recorded{stress::random_program(seed), {}, {}};
  stress::RandomStrategy strategy(seed);
  stress::RunRecording recording;
  recorded.result = stress::run(recorded.program, strategy, nullptr, &recording);
  recorded.recording = recording.file();
  return recorded;
}

}  // namespace polychron::testing
