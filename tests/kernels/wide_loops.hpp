// Kernels in vectors of AVX-512: whether there are any here, and results to the last bit.
#pragma once

#include <span>

#include "polychron/buffer.hpp"

namespace polychron::tests {

/// Whether this processor has what they are compiled for; says so where it has not.
bool has_wide_loops();

/// Where numbers differ; zeros are alike, and so are NaN. All of them if there are not as many.
std::size_t unlike(std::span<const float> a, std::span<const float> b);
std::size_t unlike(const Buffer& a, const Buffer& b);

}  // namespace polychron::tests
