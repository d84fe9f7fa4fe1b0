// Which products are computed in loops of our own: who computes and who cuts them agree on it.
#pragma once

#include "kernels/problem.hpp"

namespace polychron::kernels {

/// As rows multiplied with panels of a constant matrix: those of several rows, of 64 elements or
/// more, in float32, with nothing behind them but a product_epilogue_of(). None where the processor
/// has no AVX-512.
bool suits_matrix_panels(const Problem& problem);

}  // namespace polychron::kernels
