#include "observe/stress/run_recording.hpp"

#include <limits>

#include "observe/recording/file.hpp"

namespace polychron::stress {

RunRecording::RunRecording(TraceCalls calls)
    : recorder_(std::make_shared<recording::Recorder>(
          [now = recording::Time{0}]() mutable { return now += 1000; })) {
  // No limit: a world's number of steps is bounded.
  recorder_->begin({.max_bytes = std::numeric_limits<std::size_t>::max(), .calls = calls});
}

std::vector<std::byte> RunRecording::file() const {
  return recording::file_of(recorder_->contents(), recorder_->now());
}

}  // namespace polychron::stress
