// Convolutions of 3x3 by Winograd's minimal filtering F(2x2, 3x3) (Lavin and Gray 2015): four
// results of a tile of 4x4 take 16 products instead of 36, and about twice the rounding errors.
//
// The tile is summed up and down before it is multiplied. What is infinite, or near it, would get
// into results that do not depend on it: such pictures are computed the plain way.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "kernels/kernel.hpp"

namespace polychron::kernels::onednn {

/// Why a convolution is none that this is for, or gains by it.
std::optional<std::string> unfit_for_winograd(const Problem& problem);

/// Runs `fast`, or, where a value of input 0 is not ordinary(), `any`.
std::unique_ptr<Kernel> with_values_checked(std::unique_ptr<Kernel> fast,
                                            std::unique_ptr<Kernel> any, const Problem& problem);

}  // namespace polychron::kernels::onednn
