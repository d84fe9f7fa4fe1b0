// Convolutions of 3x3 by Winograd's minimal filtering F(2x2, 3x3) (Lavin and Gray 2015): four
// results of a tile of 4x4 take 16 products instead of 36, and about twice the rounding errors.
//
// The tile is summed up and down before it is multiplied: a result still depends on its own window
// alone, but its error is relative to the largest number there times the largest of the filter,
// even if these two never meet; and of infinities the differences are NaN. Pictures with numbers
// near infinity are computed the plain way.
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
