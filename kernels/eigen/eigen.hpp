// Element-wise kernels on Eigen: functions that oneDNN does not have, and small operands, for which
// calling oneDNN costs more (0.3 us) than computing.
#pragma once

#include "kernels/kernel.hpp"

namespace polychron::kernels::eigen {

KernelResult prepare_unary(const Problem& problem);
KernelResult prepare_small_unary(const Problem& problem);
KernelResult prepare_small_binary(const Problem& problem);

}  // namespace polychron::kernels::eigen
