// A recording of what the actors did in a run, for `polychron trace`.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "observe/recording/recorder.hpp"

namespace polychron::stress {

/// Records the actors of a World, in its thread. Time is logical: every event takes one
/// microsecond.
class RunRecording {
 public:
  explicit RunRecording(TraceCalls calls = TraceCalls::sizes);

  /// The observer of a context.
  std::shared_ptr<msg::Observer> observer_for(std::string label, int lanes) {
    return recorder_->observer_for(std::move(label), static_cast<std::size_t>(lanes));
  }
  /// The bytes, in the form of Runtime::trace().
  std::vector<std::byte> file() const;

 private:
  const std::shared_ptr<recording::Recorder> recorder_;
};

}  // namespace polychron::stress
