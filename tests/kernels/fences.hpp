// Convolutions in memory of all kinds: between protected pages, unaligned, moved.
#pragma once

#include <span>

#include "tests/kernels/convolutions.hpp"

namespace polychron::tests {

bool same(std::span<const std::byte> bytes, const Buffer& others);

/// Runs a convolution in blocks of channels where nothing beside its operands can be touched, and
/// holds the result against the usual. Operands lie at the end of their pages, or at the beginning.
void run_between_fences(const ProblemMaker& maker, bool at_end);

/// The same, with inputs and results four bytes from where a plan's memory would be: a caller's
/// memory may lie anywhere.
void run_misaligned(const ProblemMaker& maker);

/// Runs it, then with operands and result that are elsewhere.
void run_elsewhere(const Convolution& convolution);

}  // namespace polychron::tests
