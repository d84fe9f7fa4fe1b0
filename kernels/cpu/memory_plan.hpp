// The offset of each buffer of a plan in one arena.
//
// Greedy by size: places the largest buffers first. Each goes into the smallest gap that fits
// between the buffers that live at the same time. (Pisarchyk and Lee, "Efficient Memory Management
// for Deep Neural Net Inference", 2020, section 5.2.)
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "polychron/buffer.hpp"

namespace polychron::kernels {

/// `bytes`, rounded up to the alignment of buffers.
constexpr std::size_t aligned(std::size_t bytes) noexcept {
  return (bytes + Buffer::alignment - 1) / Buffer::alignment * Buffer::alignment;
}

/// A buffer and the range of steps during which its bytes matter, both ends included.
struct Lifetime {
  std::size_t bytes = 0;
  std::size_t first = 0;
  std::size_t last = 0;
};

/// Offsets are multiples of Buffer::alignment. Two buffers that live at the same time never
/// overlap.
struct MemoryPlan {
  std::vector<std::size_t> offsets;
  std::size_t bytes = 0;
};

MemoryPlan plan_memory(std::span<const Lifetime> lifetimes);

}  // namespace polychron::kernels
