// The counters of a context; Context::stats() is a snapshot of them.
#pragma once

#include <atomic>
#include <cstdint>

namespace polychron::msg {

/// Written by callers (the first line) and by devices and objects' actors (the others); read by
/// stats(). Relaxed: each is exact, together they are a snapshot of no single moment.
struct Counters {
  using Count = std::atomic<std::uint64_t>;
  // On lines of their own: sharing one would cost every dispatch a transfer.
  alignas(64) Count writes{0}, reads{0}, dispatches{0}, computes{0}, exports{0}, builds{0};
  alignas(64) Count completed{0};  ///< operations carried out successfully on the device timeline
  Count failed{0};                 ///< operations that ran and failed
  Count not_run{0};  ///< operations refused on the device timeline: errored input, cancelled, late
  Count unheard{0};  ///< errors that a scope or the handler should have heard of, and were too many
  alignas(64) Count copies{0}, copied_bytes{0};
  Count tensors{0}, graphs{0};  ///< alive now
};

inline void count(Counters::Count& counter, std::uint64_t by = 1) noexcept {
  counter.fetch_add(by, std::memory_order_relaxed);
}

}  // namespace polychron::msg
