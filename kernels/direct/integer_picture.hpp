// A part of a picture of 8-bit integers, as its convolution reads it, and the loops over it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "polychron/data_type.hpp"

namespace polychron::kernels::direct {

/// The most filters whose sums stay in registers together.
inline constexpr std::size_t most_integer_filters = 4;
/// The most sums of a filter in registers, with the widest vectors that Highway has.
inline constexpr std::size_t most_integer_pixels = 128;

/// Packs to make, of 32 bits each: two elements minus their zero point, in 16 bits, or four bytes
/// as the instructions take them. The elements of pack i are at `i * stride + phase`. A byte
/// behind the last ones may be read, but is not used.
struct IntegerRow {
  std::array<const std::byte*, 4> elements = {};  ///< two, or four
  bool narrow = false;                            ///< four
  std::size_t stride = 1, phase = 0;
  std::size_t count = 0;  ///< of packs
  bool is_signed = false;
  std::int32_t zero = 0;
  std::int32_t* packs = nullptr;
};

/// Up to most_integer_filters filters, which share each pack of the picture that they read. A step
/// multiplies a pack for each pixel with a pack of each filter. Packs of bytes are in steps as
/// narrow_steps() makes them.
struct IntegerFilters {
  std::span<const std::uint32_t> offsets;  ///< of the steps' packs in the picture
  std::size_t doubled = 0;                 ///< the first steps: each two are added in 16 bits
  const std::int32_t* weights = nullptr;   ///< step by step, a pack of each filter
};

/// Some rows of a group's results. The picture is planes of rows of packs. The pixel of row y and
/// column x reads the packs at `y * row + x + offset`. So pixels in a row lie side by side,
/// whatever the stride; those from `width` on do not exist.
struct IntegerPixels {
  const std::int32_t* picture = nullptr;
  bool narrow = false;  ///< packs of four bytes, else of two elements
  std::span<const IntegerFilters> filters;
  std::size_t count = 0;  ///< of filters
  std::size_t rows = 0, row = 0, width = 0;
  // One number for each filter:
  const std::int32_t* biases = nullptr;
  const float* factors = nullptr;
  const float* summands = nullptr;
  const float* scales = nullptr;        ///< for integers of 8 bits
  const std::int32_t* zeros = nullptr;  ///< the same
  bool is_bounded = false;
  float lowest = 0, highest = 0;    ///< if it is
  DataType type = DataType::int32;  ///< of the results
  std::byte* results = nullptr;
  std::size_t step = 0;  ///< elements between filters' results
};

void convolve_integers(const IntegerPixels& pixels);
void pack_integers(const IntegerRow& row);

}  // namespace polychron::kernels::direct
