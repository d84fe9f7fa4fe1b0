// A block of consecutive records of one thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace polychron::recording {

/// Only its own thread writes; any thread may read the published part meanwhile.
struct Block {
  Block(std::uint64_t of_thread, std::size_t bytes)
      : thread(of_thread), memory(std::make_unique<std::byte[]>(bytes)), size(bytes) {}

  std::span<const std::byte> published() const noexcept {
    return {memory.get(), used.load(std::memory_order_acquire)};
  }

  const std::uint64_t thread;  ///< 1, 2, ... in order of first use
  const std::unique_ptr<std::byte[]> memory;
  const std::size_t size;
  std::atomic<std::size_t> used{0};
  std::atomic<std::uint64_t> records{0};
};
using BlockRef = std::shared_ptr<Block>;

}  // namespace polychron::recording
