// How a matrix of 8-bit integers is multiplied as bytes: in steps of four neighbours of a column.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace polychron::kernels::direct {

/// Several steps may share four neighbours: each multiplies an equal part of every element.
struct NarrowStep {
  std::uint16_t four = 0;    ///< which four neighbours
  std::uint8_t part = 0;     ///< which part of the elements
  std::uint8_t parts = 1;    ///< how many steps share them
  std::int32_t largest = 0;  ///< of sums of two neighbours' magnitudes

  /// The step's part of an element. In the steps of narrow_steps() all parts are bytes.
  std::int32_t part_of(std::int32_t element) const {
    return element * (part + 1) / parts - element * part / parts;
  }
};

struct NarrowSteps {
  std::vector<NarrowStep> steps;
  std::size_t doubled = 0;  ///< each two of the first ones may be added in 16 bits
  /// What all steps take, and what products in pairs of 16 bits would take, in the same unit.
  std::size_t time = 0, wide_time = 0;
};

/// The steps of `panel`, whose rows have `width` columns each and whose number is a multiple of
/// four. Sums of neighbours' magnitudes are at most `most` in a step, and in each two of the
/// doubled steps together. `most` is at least 128. Elements are -255 to 255.
NarrowSteps narrow_steps(std::span<const std::int16_t> panel, std::size_t width, std::int32_t most);

}  // namespace polychron::kernels::direct
