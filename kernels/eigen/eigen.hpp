// Element-wise kernels with Eigen: functions that oneDNN does not have, and small operands, for
// which a call to oneDNN (0.3 us) costs more than the computation.
#pragma once

#include "kernels/kernel.hpp"

namespace polychron::kernels::eigen {

/// Functions of each element, including activations.
std::span<const Entry> elementwise_entries() noexcept;

}  // namespace polychron::kernels::eigen
