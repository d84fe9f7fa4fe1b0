// A part of a picture of 8-bit integers, as its convolution reads it, and the loops over it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "polychron/data_type.hpp"

namespace polychron::kernels::direct {

/// The most filters whose sums stay in registers together.
inline constexpr std::size_t most_integer_filters = 4;
/// The most sums of a filter in registers, with the widest vectors that Highway has.
inline constexpr std::size_t most_integer_pixels = 128;

/// A row of pairs to make: elements minus their zero point, in 16 bits. The element of column i is
/// at `i * stride`. Each line begins and ends with as many zero points as the convolution pads.
struct IntegerRow {
  const std::byte* first = nullptr;   ///< the first elements of the pairs
  const std::byte* second = nullptr;  ///< the second ones
  std::size_t stride = 1;
  std::size_t count = 0;  ///< of pairs
  bool is_signed = false;
  std::int32_t zero = 0;
  std::int32_t* pairs = nullptr;
};

/// Some rows of a group's results. The picture is planes of rows of pairs, 32 bits each. The pixel
/// of row y and column x reads the pairs at `y * row + x + offset`, for each of `offsets`: plane by
/// plane, tap by tap. So pixels in a row lie side by side, whatever the stride; those from `width`
/// on do not exist.
struct IntegerPixels {
  const std::int32_t* picture = nullptr;
  std::span<const std::uint32_t> offsets;
  const std::int32_t* weights = nullptr;  ///< pairs: filter by filter, offset by offset
  std::size_t filters = 0;
  std::size_t rows = 0, row = 0, width = 0;
  // One number for each filter:
  const std::int32_t* biases = nullptr;
  const float* factors = nullptr;
  const float* summands = nullptr;
  const float* scales = nullptr;        ///< for integers of 8 bits
  const std::int32_t* zeros = nullptr;  ///< the same
  float lowest = 0, highest = 0;
  DataType type = DataType::int32;  ///< of the results
  std::byte* results = nullptr;
  std::size_t step = 0;  ///< elements between filters' results
};

void convolve_integers(const IntegerPixels& pixels);
void widen_integers(const IntegerRow& row);

}  // namespace polychron::kernels::direct
