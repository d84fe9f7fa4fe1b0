// Casts between float16 and float32.
#pragma once

#include <cstddef>

#include "polychron/float16.hpp"

namespace polychron::kernels::direct {

void widen_halves(const float16* from, float* to, std::size_t count);

/// Rounds to the nearest, ties to even.
void narrow_floats(const float* from, float16* to, std::size_t count);

}  // namespace polychron::kernels::direct
