// Kernels in loops of our own, where neither library has a fast one: data movement between blocked
// layouts (float32 only), quantization.
#pragma once

#include "kernels/kernel.hpp"

namespace polychron::kernels::direct {

std::span<const Entry> movement_entries() noexcept;
std::span<const Entry> quantization_entries() noexcept;

// What the table lists, a file each.
KernelResult prepare_concat(const Problem& problem);
KernelResult prepare_depth_to_space(const Problem& problem);

}  // namespace polychron::kernels::direct
