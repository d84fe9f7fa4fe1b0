// How many operations a context has in flight, and who must wait when there are too many.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "messages/budget.hpp"
#include "polychron/context.hpp"

namespace polychron::actors {

/// Callers enter before they send an operation (write, read, dispatch, compute); the device leaves
/// when it is done with it. Thread-safe; no lock is taken below the limit.
class Admission {
 public:
  Admission(std::uint64_t most, AdmissionPolicy policy) : most_(most), policy_(policy) {}

  /// Takes a place. At the limit, blocks until half of the places are free again, or throws
  /// quota_exceeded, as the context was configured. A completion callback is never blocked: it is
  /// let in above the limit, because the thread that it runs on may be the one that makes room.
  void enter();
  void leave() noexcept;
  /// Reserves bytes for a payload, under the same policy. Blocks only while operations are in
  /// flight that may free some; else out_of_memory.
  msg::Reservation reserve(const std::shared_ptr<msg::Budget>& budget, std::uint64_t bytes);
  /// The context is gone: lets everybody in who waits; their calls then report the loss.
  void close();

  std::uint64_t in_flight() const noexcept { return entered_ - left_; }
  /// The highest number in flight, looked at now and then rather than at each call.
  std::uint64_t peak() const noexcept { return peak_; }
  std::uint64_t blocked() const noexcept { return blocked_; }
  std::uint64_t refused() const noexcept { return refused_; }

 private:
  template <class Ready>
  void block_until(Ready ready);
  /// Looks at what the device has done, and returns how many are in flight.
  std::uint64_t look() noexcept;
  bool try_enter(std::uint64_t limit);

  const std::uint64_t most_;
  const AdmissionPolicy policy_;
  // Callers write the first line and devices the second: a caller looks at the second only when
  // what it knew of it says that the limit is near.
  alignas(64) std::atomic<std::uint64_t> entered_{0};
  std::atomic<std::uint64_t> known_left_{0}, peak_{0}, blocked_{0}, refused_{0};
  alignas(64) std::atomic<std::uint64_t> left_{0};
  alignas(64) std::atomic<std::uint64_t> waiting_{0};
  std::atomic<bool> closed_{false};
  std::mutex mutex_;
  std::condition_variable room_;
};

}  // namespace polychron::actors
