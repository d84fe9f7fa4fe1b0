// Kernels between pages that nobody may touch: what they read and write beside their operands.
#pragma once

#include <span>

#include "tests/kernels/convolutions.hpp"

namespace polychron::tests {

bool same(std::span<const std::byte> bytes, const Buffer& others);

/// Runs a convolution in blocks of channels where nothing beside its operands can be touched, and
/// holds the result against the usual. Operands lie at the end of their pages, or at the beginning.
void run_between_fences(const ProblemMaker& maker, bool at_end);

/// Likewise where what it takes and gives lies four bytes from where a plan's memory would: what a
/// caller gives may lie anywhere.
void run_misaligned(const ProblemMaker& maker);

}  // namespace polychron::tests
