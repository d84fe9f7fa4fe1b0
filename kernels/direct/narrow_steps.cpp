#include "kernels/direct/narrow_steps.hpp"

#include <algorithm>
#include <cstdlib>

namespace polychron::kernels::direct {
namespace {

// Times of a step, of two doubled ones, and of four neighbours in pairs of 16 bits, by loops of
// nothing else: 99, 121 and 80 products a ns (AMD EPYC of Zen 3, AVX2, 2026-11-29).
constexpr std::size_t step_time = 3, doubled_time = 5, time_of_pairs = 4;

/// The largest sum of the magnitudes of two neighbours' shares in a column. Shares are bytes.
std::int32_t largest_sum(std::span<const std::int16_t> panel, std::size_t width,
                         const NarrowStep& step) {
  std::int32_t largest = 0;
  for (std::size_t i = 0; i < 4; i += 2)
    for (std::size_t k = 0; k < width; ++k) {
      const auto magnitude = [&](std::size_t row) {
        return std::abs(step.share(panel[(4 * step.four + row) * width + k]));
      };
      largest = std::max(largest, magnitude(i) + magnitude(i + 1));
    }
  return largest;
}

/// In how many steps the shares of these elements are bytes.
std::uint8_t least_steps(std::span<const std::int16_t> elements) {
  const auto is_byte = [](std::int16_t x) { return x == static_cast<std::int8_t>(x); };
  return std::ranges::all_of(elements, is_byte) ? 1 : 2;
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
    for (std::uint8_t of = least_steps(panel.subspan(4 * four * width, 4 * width));; ++of) {
      for (std::uint8_t number = 0; number < of; ++number) {
        NarrowStep step{.four = static_cast<std::uint16_t>(four), .number = number, .of = of};
        step.largest = largest_sum(panel, width, step);
        steps.push_back(step);
      }
      const auto fits = [most](const NarrowStep& step) { return step.largest <= most; };
      if (std::all_of(steps.begin() + static_cast<std::ptrdiff_t>(before), steps.end(), fits))
        break;
      steps.resize(before);
    }
  }
  NarrowSteps made = in_order(std::move(steps), most);
  const std::size_t single = made.steps.size() - made.doubled;
  made.time = made.doubled / 2 * doubled_time + single * step_time;
  made.wide_time = fours * time_of_pairs;
  return made;
}

}  // namespace polychron::kernels::direct
