// Element-wise kernels on Eigen: functions that oneDNN does not have, and small operands, for which
// calling oneDNN costs more (0.3 us) than computing.
#pragma once

#include "kernels/kernel.hpp"

namespace polychron::kernels::eigen {

/// Functions of each element, activations too.
std::span<const Entry> elementwise_entries() noexcept;

}  // namespace polychron::kernels::eigen
