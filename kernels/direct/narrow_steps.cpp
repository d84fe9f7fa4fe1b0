#include "kernels/direct/narrow_steps.hpp"

#include <algorithm>
#include <cstdlib>

namespace polychron::kernels::direct {
namespace {

// Times of a step, of two doubled ones, and of four neighbours in pairs of 16 bits, by loops of
// nothing else: 99, 121 and 80 products a ns (AMD EPYC of Zen 3, AVX2, 2026-11-29).
constexpr std::size_t step_time = 3, doubled_time = 5, time_of_pairs = 4;

/// The largest sum of the magnitudes of two neighbours in a column, of the step's parts. 128 counts
/// as too large: it is no signed byte.
std::int32_t largest_sum(std::span<const std::int16_t> panel, std::size_t width,
                         const NarrowStep& step) {
  constexpr std::int32_t too_large = 1024;
  std::int32_t largest = 0;
  for (std::size_t i = 0; i < 4; i += 2)
    for (std::size_t k = 0; k < width; ++k) {
      const auto magnitude = [&](std::size_t row) {
        const std::int32_t part = step.part_of(panel[(4 * step.four + row) * width + k]);
        return part == static_cast<std::int8_t>(part) ? std::abs(part) : too_large;
      };
      largest = std::max(largest, magnitude(i) + magnitude(i + 1));
    }
  return largest;
}

/// The largest step that still fits is doubled with the smallest one: no other choice doubles more.
NarrowSteps in_order(std::vector<NarrowStep> steps, std::int32_t most) {
  std::ranges::stable_sort(steps, {}, &NarrowStep::largest);
  NarrowSteps made;
  std::vector<NarrowStep> single;
  std::size_t small = 0, large = steps.size();
  while (small < large) {
    const NarrowStep& last = steps[--large];
    if (small < large && steps[small].largest + last.largest <= most)
      made.steps.insert(made.steps.end(), {steps[small++], last});
    else
      single.push_back(last);
  }
  made.doubled = made.steps.size();
  made.steps.insert(made.steps.end(), single.begin(), single.end());
  return made;
}

}  // namespace

NarrowSteps narrow_steps(std::span<const std::int16_t> panel, std::size_t width,
                         std::int32_t most) {
  std::vector<NarrowStep> steps;
  const std::size_t fours = panel.size() / (4 * width);
  for (std::size_t four = 0; four < fours; ++four) {
    const std::size_t before = steps.size();
    bool fits = false;
    for (std::uint8_t parts = 1; !fits; ++parts) {
      steps.resize(before);
      fits = true;
      for (std::uint8_t part = 0; part < parts; ++part) {
        NarrowStep step{.four = static_cast<std::uint16_t>(four), .part = part, .parts = parts};
        step.largest = largest_sum(panel, width, step);
        fits = fits && step.largest <= most;
        steps.push_back(step);
      }
    }
  }
  NarrowSteps made = in_order(std::move(steps), most);
  const std::size_t single = made.steps.size() - made.doubled;
  made.time = made.doubled / 2 * doubled_time + single * step_time;
  made.wide_time = fours * time_of_pairs;
  return made;
}

}  // namespace polychron::kernels::direct
