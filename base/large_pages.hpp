// The pieces in which large memory is asked for, and when these should be large pages.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace polychron {

inline constexpr std::size_t page_bytes = 4096, large_page_bytes = 2U << 20U;

/// Calls f(address, bytes) for the whole pages of memory, piece by piece: what lies between two
/// multiples of large_page_bytes is one.
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

/// Large pages are asked for as long as they come fast: a large page is one fault instead of 512.
/// But a hypervisor to which the system gives free memory back gets it in pieces of that size
/// (Linux's free page reporting), and has to find it again once it is touched, which took 2 ms a
/// MiB; small pages came from what had never been given back, and took 0.3. Thread-safe.
class LargePages {
 public:
  /// A page that takes longer was not at hand: one that is takes 0.1 ms to be filled with zeros.
  static constexpr std::chrono::microseconds slow{1000};
  /// After a slow one so many pages are small ones: a slow one for 128 MiB is no harm.
  static constexpr int pause = 63;

  /// Whether the next one should be large.
  bool wanted() {
    // Who looks at the same time as others may take one more or less for small.
    if (small_.load(std::memory_order_relaxed) <= 0) return true;
    small_.fetch_sub(1, std::memory_order_relaxed);
    return false;
  }
  /// A large one took so long to come.
  void came(std::chrono::nanoseconds took) {
    if (took > slow) small_.store(pause, std::memory_order_relaxed);
  }

 private:
  std::atomic<int> small_ = 0;
};

}  // namespace polychron
