// An exact product of 8-bit integers that is one step (op_integer_product), and its operands.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/problem.hpp"

namespace polychron::kernels {

constexpr bool has_8_bits(DataType type) {
  return type == DataType::int8 || type == DataType::uint8;
}

/// The most products in a sum: 255 * 255 times as many is below 2^31.
inline constexpr std::uint32_t most_integer_elements = 33'000;

/// (rows - their zero point) x (columns - their zero point), in int32. As float32 the sums may get
/// a factor and then a summand, and may then be quantized again: these are post-operations.
struct IntegerOperands {
  /// An input with one number for each column, or one for all.
  struct ForColumns {
    std::size_t input = 0;  ///< 0: there is none
    bool one = true;
  };

  std::size_t rows, elements, columns;
  bool left_signed, right_signed;
  std::size_t row_zeros;  ///< zero points of the rows, which repeat
  bool one_zero;          ///< one zero point for all columns
  DataType result;        ///< int32, float32, int8 or uint8
  float factor = 1;       ///< if it is known
  ForColumns factors = {}, summands = {}, scales = {};
  std::size_t zeros = 0;  ///< the input with the result's zero points, as many as scales
};

/// Reads a problem of op_integer_product. Its inputs are int8 or uint8: rows, a constant matrix,
/// and the zero points of both, of their types. Those of the matrix are constant; both may be
/// absent. Returns nullopt if no kernel takes it.
std::optional<IntegerOperands> integer_operands(const Problem& problem);

}  // namespace polychron::kernels
