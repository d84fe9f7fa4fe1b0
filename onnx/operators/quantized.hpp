// Arithmetic on quantized tensors: what the operators of several domains have in common.
#pragma once

#include <optional>

#include "onnx/operators/term.hpp"

namespace polychron::onnx::detail {

inline std::optional<Term> optional_term(Node& node, std::size_t i) {
  if (!node.has_input(i)) return std::nullopt;
  return term(node, i);
}

/// round(x / scale) + zero point, kept within `type`. Throws for a type that has no such steps.
Term quantized(Term x, Term scale, const std::optional<Term>& zero, std::uint32_t axis,
               ElementType type);
/// (x - zero point) * scale, which are one for all of x.
Term dequantized(const Term& x, const Term& scale, const std::optional<Term>& zero);

/// A tensor in uint8, with the steps that its range asks for: 0 is always one of them.
struct DynamicSteps {
  Term values, scale, zero;
};
DynamicSteps dynamic_steps(const Term& x);

/// x - zero point in float32. The difference is taken in int32, where it is exact.
Term difference(const Term& x, const std::optional<Term>& zero);
/// Scales or zero points of the rows of a first, or the columns of a second matrix.
Term for_matrix(const Term& steps, bool rows);
/// The product of integers that float32 holds, in int32: exact. Vectors take part as matrices.
/// `parts` are the ends of the stretches of the inner dimension whose sums are exact in float32; if
/// empty, stretches of 256.
Term matrix_product(Term left, Term right, const std::vector<std::uint32_t>& parts = {});

}  // namespace polychron::onnx::detail
