// How a panel of 8-bit integers is multiplied as bytes: in steps of four neighbours of a column.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace polychron::kernels::direct {

struct NarrowStep {
  std::uint16_t four = 0;    ///< which four neighbours
  std::uint8_t taken = 0xf;  ///< a bit for each of them; zeros take the place of the others
  std::int32_t largest = 0;  ///< of sums of two neighbours' magnitudes

  bool has(std::size_t i) const { return (taken >> i & 1U) != 0; }
};

struct NarrowSteps {
  std::vector<NarrowStep> steps;
  std::size_t doubled = 0;  ///< each two of the first ones may be added in 16 bits
};

/// The steps of `panel`, whose rows have `width` columns each and whose number is a multiple of
/// four. Sums of neighbours' magnitudes are at most `most` in a step, and in each two of the
/// doubled steps together. Returns nullopt if products in pairs of 16 bits are faster, or if `most`
/// is 0.
std::optional<NarrowSteps> narrow_steps(std::span<const std::int8_t> panel, std::size_t width,
                                        std::int32_t most);

}  // namespace polychron::kernels::direct
