// The loops over the gates of recurrent networks, which vectorize.
#pragma once

#include <cstddef>

#include "polychron/attributes.hpp"

namespace polychron::kernels::onednn {

/// Applies the activation to each of `count` values. The error is at most 3 units in the last
/// place.
void activate(RecurrentNetworkActivation activation, float* values, std::size_t count) noexcept;

/// a += b.
void add(float* a, const float* b, std::size_t count) noexcept;
/// a += b + c.
void add_both(float* a, const float* b, const float* c, std::size_t count) noexcept;
/// a += b * c.
void add_product(float* a, const float* b, const float* c, std::size_t count) noexcept;
/// a = b * c.
void multiply(float* a, const float* b, const float* c, std::size_t count) noexcept;
/// state = share * state + (1 - share) * fresh.
void blend(float* state, const float* share, const float* fresh, std::size_t count) noexcept;
/// state = keep * state + take * fresh.
void update(float* state, const float* keep, const float* take, const float* fresh,
            std::size_t count) noexcept;

}  // namespace polychron::kernels::onednn
