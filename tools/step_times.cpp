#include "tools/step_times.hpp"

#include <algorithm>
#include <chrono>
#include <random>

#include "tools/random_input.hpp"

namespace tool {

std::vector<double> step_times(const polychron::onnx::Session& session, double seconds,
                               Progress& progress) {
  using Clock = std::chrono::steady_clock;
  std::mt19937_64 random(1);
  polychron::NamedBuffers inputs;
  for (const auto& [name, descriptor] : session.inputs())
    inputs.emplace_back(name, random_input(descriptor, random));
  const auto profile = [&] {
    polychron::NamedBuffers copies;
    for (const auto& [name, bytes] : inputs)
      copies.emplace_back(name, polychron::Buffer::copy_of(bytes.bytes()));
    return session.profile(std::move(copies)).get().steps;
  };
  progress.show("timing the steps");
  std::vector<std::vector<double>> times(profile().size());  // the first run is not counted
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  do {
    const auto steps = profile();
    for (std::size_t i = 0; i < steps.size(); ++i) times[i].push_back(steps[i].seconds);
  } while (Clock::now() < end);
  progress.clear();
  std::vector<double> medians;
  for (auto& runs : times) {
    const auto middle = runs.begin() + static_cast<std::ptrdiff_t>(runs.size() / 2);
    std::nth_element(runs.begin(), middle, runs.end());
    medians.push_back(*middle);
  }
  return medians;
}

}  // namespace tool
