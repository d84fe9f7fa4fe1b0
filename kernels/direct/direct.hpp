// Kernels in loops of our own that the compiler vectorizes, where neither library has a fast one:
// elements that are moved, picked, replaced and compared, sums along an axis, products with
// constants, quantization, what pictures in blocked layouts need, and convolutions. Types are each
// kernel's own; those of blocked layouts are float32.
#pragma once

#include "kernels/kernel.hpp"

namespace polychron::kernels::direct {

std::span<const Entry> elementwise_entries() noexcept;
std::span<const Entry> pooling_entries() noexcept;
std::span<const Entry> reduction_entries() noexcept;
std::span<const Entry> exponential_entries() noexcept;
std::span<const Entry> resampling_entries() noexcept;
std::span<const Entry> movement_entries() noexcept;
std::span<const Entry> indexing_entries() noexcept;
std::span<const Entry> quantization_entries() noexcept;
std::span<const Entry> matrix_entries() noexcept;
std::span<const Entry> convolution_entries() noexcept;
// What is left by the libraries.
std::span<const Entry> activation_entries() noexcept;
std::span<const Entry> broadcast_entries() noexcept;
std::span<const Entry> cast_entries() noexcept;
std::span<const Entry> normalization_entries() noexcept;
std::span<const Entry> copy_entries() noexcept;

// What the tables list, a file each or a few.
// Why they refuse a problem, if they do.
Refusal refuse_depthwise(const Problem& problem);
Refusal refuse_matrix_product(const Problem& problem);
Refusal refuse_minimal_filtering(const Problem& problem);
Refusal refuse_panels(const Problem& problem);

KernelResult prepare_arg_min_max(const Problem& problem);
KernelResult prepare_attention(const Problem& problem);
KernelResult prepare_concat(const Problem& problem);
KernelResult prepare_cumulative_sum(const Problem& problem);
KernelResult prepare_depth_to_space(const Problem& problem);
KernelResult prepare_depthwise(const Problem& problem);
KernelResult prepare_matrix_product(const Problem& problem);
KernelResult prepare_minimal_filtering(const Problem& problem);
KernelResult prepare_pad(const Problem& problem);
KernelResult prepare_panels(const Problem& problem);
KernelResult prepare_reverse(const Problem& problem);
KernelResult prepare_tile(const Problem& problem);
KernelResult prepare_top_k(const Problem& problem);
KernelResult prepare_triangular(const Problem& problem);
KernelResult prepare_vector_product(const Problem& problem);

/// Why kernels of plain layouts without post-operations refuse `problem`, if they do.
std::optional<std::string> not_plain(const Problem& problem);

}  // namespace polychron::kernels::direct
