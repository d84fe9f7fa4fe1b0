// Splits large memory into pieces, and decides when to ask for large pages.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace polychron {

inline constexpr std::size_t page_bytes = 4096, large_page_bytes = 2U << 20U;

/// Calls f(address, bytes) for the whole pages of memory, piece by piece. A piece lies between two
/// multiples of large_page_bytes.
template <class F>
void each_piece(std::uintptr_t begin, std::size_t size, F&& f) {
  const std::uintptr_t end = (begin + size) / page_bytes * page_bytes;
  std::uintptr_t at = (begin + page_bytes - 1) / page_bytes * page_bytes;
  while (at < end) {
    const auto next = std::min(at / large_page_bytes * large_page_bytes + large_page_bytes, end);
    f(at, next - at);
    at = next;
  }
}

/// Asks for large pages as long as they come fast: a large page is one fault instead of 512. They
/// can be slow: with free page reporting Linux returns free memory to the hypervisor in pieces of
/// that size, and getting them back took 2 ms for each MiB. Small pages came from memory that was
/// never returned, and took 0.3 ms. Thread-safe.
class LargePages {
 public:
  /// A page that takes longer was not free: zeroing a free one takes 0.1 ms.
  static constexpr std::chrono::microseconds slow{1000};
  /// After a slow page this many pieces use small pages: one slow page for 128 MiB does no harm.
  static constexpr int pause = 63;

  /// True if the next piece should be a large page.
  bool wanted() {
    // Concurrent threads may make the count off by one, which is harmless.
    if (small_.load(std::memory_order_relaxed) <= 0) return true;
    small_.fetch_sub(1, std::memory_order_relaxed);
    return false;
  }
  /// Reports the time that a large page took.
  void came(std::chrono::nanoseconds took) {
    if (took > slow) small_.store(pause, std::memory_order_relaxed);
  }

 private:
  std::atomic<int> small_ = 0;
};

}  // namespace polychron
