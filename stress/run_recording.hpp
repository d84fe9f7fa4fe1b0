// What the actors did in a run, as a recording: `polychron trace` tells of it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "recording/recorder.hpp"

namespace polychron::stress {

/// Records the actors of a World, in its thread. Time is logical: whatever happens takes one
/// microsecond.
class RunRecording {
 public:
  explicit RunRecording(TraceCalls calls = TraceCalls::sizes);

  /// What listens to a context.
  std::shared_ptr<msg::Observer> ear(std::string label, int lanes) {
    return recorder_->ear(std::move(label), static_cast<std::size_t>(lanes));
  }
  /// As Runtime::trace() gives it.
  std::vector<std::byte> file() const;

 private:
  const std::shared_ptr<recording::Recorder> recorder_;
};

}  // namespace polychron::stress
