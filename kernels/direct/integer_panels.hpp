// A constant matrix of 8-bit integers in panels of columns, and the rows that it is multiplied
// with.
#pragma once

#include <cstddef>
#include <cstdint>

#include "polychron/data_type.hpp"

namespace polychron::kernels::direct {

/// The most rows whose sums stay in registers together.
inline constexpr std::size_t most_integer_rows = 4;
/// The most columns of a panel, with the widest vectors that Highway has.
inline constexpr std::size_t most_integer_columns = 128;

/// The pairs of a sum that a step of the loop adds. Zeros fill the last step.
inline constexpr std::size_t pairs_at_once = 2;

/// The product of some rows with a panel. Instructions multiply two pairs of 16 bits and add both
/// products in 32 bits, where nothing saturates.
///
/// A narrow panel's bytes are multiplied with bytes, by fewer instructions. It is in steps of four
/// neighbours of each column. Some processors add the four products in 32 bits. Others add two of
/// them in 16 bits. These fit, because several steps share elements that are too large. Where two
/// steps are small enough together, their sums are added in 16 bits, too.
struct IntegerTiles {
  std::size_t count = 0;                    ///< of rows
  std::size_t pairs = 0;                    ///< of each row, an even number
  const std::int16_t* rows = nullptr;       ///< elements minus their zero point
  const std::byte* narrow_rows = nullptr;   ///< elements plus offset_of_row()
  const std::int32_t* row_sums = nullptr;   ///< the sum of each row's numbers in `rows`
  const std::int32_t* row_zeros = nullptr;  ///< the zero points of `narrow_rows`
  /// Of a narrow panel: for each step, which four neighbours it has. Null for another panel.
  const std::uint16_t* fours = nullptr;
  std::size_t steps = 0;    ///< of a narrow panel
  std::size_t doubled = 0;  ///< the first steps: each two of them are added in 16 bits
  /// For each pair of its rows, or for each step, the elements of all columns.
  const std::int8_t* panel = nullptr;
  const std::int32_t* sums = nullptr;          ///< of the columns' elements
  const std::int32_t* zeros = nullptr;         ///< the columns' zero points
  DataType type = DataType::int32;             ///< of the results: int32, float32, int8 or uint8
  const float* factors = nullptr;              ///< of the columns, for other results than int32
  const float* summands = nullptr;             ///< of the columns, added after the factor
  const float* scales = nullptr;               ///< of the columns, for results of 8 bits
  const std::int32_t* result_zeros = nullptr;  ///< the same
  std::byte* results = nullptr;                ///< of the first row
  std::size_t step = 0;                        ///< elements between rows of the results
  std::size_t columns = 0;                     ///< columns of the panel that exist
};

/// The columns of a panel.
std::size_t integer_columns();
/// The largest sum of the magnitudes of neighbours that are added in 16 bits. 0: there are no
/// narrow panels on this processor.
std::int32_t most_of_narrow_sum();
void multiply_integers(const IntegerTiles& tiles);
/// Subtracts `zero` from each element. Returns the sum.
std::int32_t widen_row(const std::byte* elements, std::size_t count, std::int32_t zero,
                       bool is_signed, std::int16_t* to);
/// The processor multiplies signed bytes of columns with unsigned ones of rows, or with signed
/// ones. This makes the elements such bytes.
std::int32_t offset_of_row(bool is_signed);
/// Copies elements plus an offset. Returns the sum.
std::int32_t copy_row(const std::byte* elements, std::size_t count, std::int32_t offset,
                      std::byte* to);

}  // namespace polychron::kernels::direct
