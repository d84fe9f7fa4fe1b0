#include "stress/run_recording.hpp"

#include "recording/file.hpp"

namespace polychron::stress {

RunRecording::RunRecording(TraceCalls calls)
    : recorder_(std::make_shared<recording::Recorder>(
          [now = recording::Time{0}]() mutable { return now += 1000; })) {
  recorder_->begin({.calls = calls});
}

std::vector<std::byte> RunRecording::file() const {
  return recording::file_of(recorder_->contents(), recorder_->now());
}

}  // namespace polychron::stress
