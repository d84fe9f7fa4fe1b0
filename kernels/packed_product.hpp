// A product with a constant matrix of 4-bit or 8-bit integers that stay packed
// (op_packed_product), and its operands.
#pragma once

#include <cstddef>
#include <optional>

#include "kernels/problem.hpp"

namespace polychron::kernels {

/// The least elements of a block: with fewer, numbers of blocks would outweigh the elements.
inline constexpr std::size_t least_packed_block = 8;

/// x times ((q - zero) * scale + minimum). The matrix has blocks of `block` neighbouring elements
/// of a column, each with a scale and perhaps a zero point and a minimum.
struct PackedOperands {
  std::size_t rows, elements, columns;
  std::size_t blocks, block;
  bool four_bits, is_signed;
  bool zeros, minima;
};

/// Reads a problem of op_packed_product. Its inputs are: float32 rows; a constant matrix of int4,
/// uint4, int8 or uint8; its scales, zero points and minima, float32 constants of the shape
/// [blocks, columns]. The last two may be absent. Returns nullopt if no kernel takes it.
std::optional<PackedOperands> packed_operands(const Problem& problem);

}  // namespace polychron::kernels
