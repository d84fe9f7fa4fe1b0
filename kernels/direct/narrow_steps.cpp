#include "kernels/direct/narrow_steps.hpp"

#include <algorithm>
#include <cstdlib>

namespace polychron::kernels::direct {
namespace {

// Times of a step, of two doubled ones, and of four neighbours in pairs of 16 bits, by loops of
// nothing else: 99, 121 and 80 products a ns (AMD EPYC of Zen 3, AVX2, 2026-11-29).
constexpr std::size_t step_time = 3, doubled_time = 5, wide_time = 4;

/// The largest sum of the magnitudes of two neighbours in a column, of those that `step` has.
std::int32_t largest_sum(std::span<const std::int8_t> panel, std::size_t width,
                         const NarrowStep& step) {
  std::int32_t largest = 0;
  for (std::size_t i = 0; i < 4; i += 2)
    for (std::size_t k = 0; k < width; ++k) {
      const auto magnitude = [&](std::size_t row) {
        return step.has(row) ? std::abs(panel[(4 * step.four + row) * width + k]) : 0;
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

std::optional<NarrowSteps> narrow_steps(std::span<const std::int8_t> panel, std::size_t width,
                                        std::int32_t most) {
  if (most == 0) return std::nullopt;
  std::vector<NarrowStep> steps;
  const std::size_t fours = panel.size() / (4 * width);
  for (std::size_t four = 0; four < fours; ++four) {
    NarrowStep step{.four = static_cast<std::uint16_t>(four)};
    step.largest = largest_sum(panel, width, step);
    if (step.largest <= most) {
      steps.push_back(step);
      continue;
    }
    for (const unsigned others : {0b0101U, 0b1010U}) {
      step.taken = static_cast<std::uint8_t>(others);
      step.largest = largest_sum(panel, width, step);
      steps.push_back(step);
    }
  }
  NarrowSteps made = in_order(std::move(steps), most);
  const std::size_t single = made.steps.size() - made.doubled;
  const std::size_t time = made.doubled / 2 * doubled_time + single * step_time;
  return time <= fours * wide_time ? std::optional(std::move(made)) : std::nullopt;
}

}  // namespace polychron::kernels::direct
