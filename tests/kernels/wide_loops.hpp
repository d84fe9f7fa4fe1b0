// Kernels in vectors: the processor's support, and results to the last bit.
#pragma once

#include <span>

#include "polychron/buffer.hpp"

namespace polychron::tests {

/// True if this processor multiplies and adds in one instruction; otherwise prints that it does
/// not.
bool has_fused_loops();

/// The number of elements that differ. Zeros are alike, and so are NaN. All if the counts differ.
std::size_t unlike(std::span<const float> a, std::span<const float> b);
std::size_t unlike(const Buffer& a, const Buffer& b);

}  // namespace polychron::tests
