#include "apps/tool/step_times.hpp"

#include <algorithm>
#include <chrono>

#include "apps/tool/random_input.hpp"

namespace tool {

std::vector<polychron::StepProfile> step_times(const polychron::onnx::Session& session,
                                               const polychron::NamedBuffers& inputs,
                                               double seconds) {
  using Clock = std::chrono::steady_clock;
  std::vector<polychron::StepProfile> steps;
  std::vector<std::vector<double>> times;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  do {
    steps = session.profile(copies_of(inputs)).get().steps;
    times.resize(steps.size());
    for (std::size_t i = 0; i < steps.size(); ++i) times[i].push_back(steps[i].seconds);
  } while (Clock::now() < end);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto middle = times[i].begin() + static_cast<std::ptrdiff_t>(times[i].size() / 2);
    std::nth_element(times[i].begin(), middle, times[i].end());
    steps[i].seconds = *middle;
  }
  return steps;
}

}  // namespace tool
