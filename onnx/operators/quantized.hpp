// Arithmetic on quantized tensors, for the operators of several domains.
#pragma once

#include <optional>

#include "onnx/operators/term.hpp"

namespace polychron::onnx::detail {

inline std::optional<Term> optional_term(Node& node, std::size_t i) {
  if (!node.has_input(i)) return std::nullopt;
  return term(node, i);
}

/// The 4-bit type for DequantizeLinear's elements and its zero points, as many as scales, if both
/// are literals. None in strict contexts.
std::optional<DataType> packed_type(const Node& node, std::size_t scales);
/// Input `i` as a constant of a type of 4 bits, with which products leave weights packed. The input
/// is a literal, which has a byte for each element. The constant is 0 if there is no such input.
Term packed_constant(Node& node, DataType type, const Shape& shape, std::size_t i);

/// round(x / scale) + zero point, clamped to the range of `type`. Throws for a type that cannot be
/// quantized to.
Term quantized(Term x, Term scale, const std::optional<Term>& zero, std::uint32_t axis,
               ElementType type);
/// (x - zero point) * scale, with one scale and zero point for all of x.
Term dequantized(const Term& x, const Term& scale, const std::optional<Term>& zero);

/// A tensor in uint8, with scale and zero point from its range; 0 is always exact. The scale of
/// zeros alone is 1, as in ONNX Runtime.
struct DynamicSteps {
  Term values, scale, zero;
};
DynamicSteps dynamic_steps(const Term& x);

/// x - zero point in float32. The difference is taken in int32, where it is exact.
Term difference(const Term& x, const std::optional<Term>& zero);
/// Scales or zero points of the rows of a first, or the columns of a second matrix.
Term for_matrix(const Term& steps, bool rows);
/// The exact int32 product of integers held in float32. Vectors count as matrices. `parts` are the
/// ends of stretches of the inner dimension whose sums are exact in float32; if empty, of 256 each.
Term matrix_product(Term left, Term right, const std::vector<std::uint32_t>& parts = {});

}  // namespace polychron::onnx::detail
