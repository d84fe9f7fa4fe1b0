// The implementations with oneDNN: one table for each family, in the family's file.
#pragma once

#include "kernels/kernel.hpp"

namespace polychron::kernels::onednn {

std::span<const Entry> elementwise_entries() noexcept;
std::span<const Entry> activation_entries() noexcept;
std::span<const Entry> matrix_entries() noexcept;
std::span<const Entry> convolution_entries() noexcept;
std::span<const Entry> pooling_entries() noexcept;
std::span<const Entry> normalization_entries() noexcept;
std::span<const Entry> movement_entries() noexcept;
std::span<const Entry> recurrent_entries() noexcept;

/// Recurrent networks as matrix products, for problems that the library's primitives do not take.
KernelResult prepare_recurrent_products(const Problem& problem);

/// maxPool2d, which our own loops compute faster on the processor.
KernelResult prepare_max_pool(const Problem& problem);

}  // namespace polychron::kernels::onednn
