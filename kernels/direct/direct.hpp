// Our own kernels: loops that the compiler vectorizes, for operators that neither library computes
// fast. They move, pick, replace and compare elements, sum along an axis, multiply with constants,
// quantize, convolve, and serve blocked layouts. Each kernel lists its types; blocked layouts are
// float32.
#pragma once

#include "kernels/kernel.hpp"

namespace polychron::kernels::direct {

std::span<const Entry> elementwise_entries() noexcept;
std::span<const Entry> function_entries() noexcept;
std::span<const Entry> pooling_entries() noexcept;
std::span<const Entry> reduction_entries() noexcept;
std::span<const Entry> exponential_entries() noexcept;
std::span<const Entry> resampling_entries() noexcept;
std::span<const Entry> movement_entries() noexcept;
std::span<const Entry> indexing_entries() noexcept;
std::span<const Entry> quantization_entries() noexcept;
std::span<const Entry> matrix_entries() noexcept;
std::span<const Entry> convolution_entries() noexcept;
// Rows for problems that the libraries refuse.
std::span<const Entry> activation_entries() noexcept;
std::span<const Entry> broadcast_entries() noexcept;
std::span<const Entry> cast_entries() noexcept;
std::span<const Entry> normalization_entries() noexcept;
std::span<const Entry> copy_entries() noexcept;

// The functions of the tables' rows. A refusal returns the reason why its row refuses a problem.
Refusal refuse_depthwise(const Problem& problem);
Refusal refuse_matrix_product(const Problem& problem);
Refusal refuse_minimal_filtering(const Problem& problem);
Refusal refuse_panels(const Problem& problem);
Refusal refuse_scattered(const Problem& problem);

KernelResult prepare_arg_min_max(const Problem& problem);
KernelResult prepare_attention(const Problem& problem);
KernelResult prepare_cached_attention(const Problem& problem);
KernelResult prepare_chain(const Problem& problem);
KernelResult prepare_concat(const Problem& problem);
KernelResult prepare_cumulative_sum(const Problem& problem);
KernelResult prepare_depth_to_space(const Problem& problem);
KernelResult prepare_depthwise(const Problem& problem);
KernelResult prepare_integer_convolution(const Problem& problem);
KernelResult prepare_integer_product(const Problem& problem);
KernelResult prepare_matrix_product(const Problem& problem);
KernelResult prepare_minimal_filtering(const Problem& problem);
KernelResult prepare_packed_product(const Problem& problem);
KernelResult prepare_pad(const Problem& problem);
KernelResult prepare_panels(const Problem& problem);
KernelResult prepare_reverse(const Problem& problem);
KernelResult prepare_rotary_embedding(const Problem& problem);
KernelResult prepare_scattered(const Problem& problem);
KernelResult prepare_tile(const Problem& problem);
KernelResult prepare_top_k(const Problem& problem);
KernelResult prepare_triangular(const Problem& problem);
KernelResult prepare_vector_product(const Problem& problem);

/// The reason why kernels of plain layouts without post-operations refuse `problem`; nullopt if
/// they take it.
std::optional<std::string> not_plain(const Problem& problem);

}  // namespace polychron::kernels::direct
