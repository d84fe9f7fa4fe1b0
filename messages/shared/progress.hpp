// How far a lane of the device timeline has come.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>

#include "messages/operation.hpp"
#include "messages/shared/logical_clock.hpp"

namespace polychron::msg {

/// Written by the lane's device actor; read by anybody.
class LaneProgress {
 public:
  /// All operations before this turn are done. Read by the other lanes and by the context, to leave
  /// out a wait that is over already.
  alignas(64) std::atomic<Ticket> done_below{1};
  /// The weight of the operations that are done: unlike the above, a lease that is out does not
  /// hold it up.
  std::atomic<std::uint64_t> done{0};

  void publish(Ticket below) noexcept {
    published_.store(logical_clock(), std::memory_order_relaxed);
    done_below.store(below, std::memory_order_release);
  }
  /// True if the operation at `turn` is done. Then the caller's logical time is after its end.
  bool sees_done(Ticket turn) const noexcept {
    if (done_below.load(std::memory_order_acquire) <= turn) return false;
    comes_after(published_.load(std::memory_order_relaxed));
    return true;
  }
  /// Does `access`, one of the above, while somebody records. Accesses have an order then: a thread
  /// that finds an operation unfinished has an earlier time than the one that publishes its end.
  template <class Access>
  auto in_order(const Access& access) noexcept {
    const std::lock_guard lock(mutex_);
    comes_after(accessed_);
    accessed_ = tick();
    return access();
  }

  void begin(Ticket ticket, std::size_t kind) noexcept {
    running_.store(ticket << kind_bits | (kind + 1), std::memory_order_relaxed);
  }
  void end(std::uint64_t weight) noexcept {
    running_.store(0, std::memory_order_relaxed);
    done.store(done.load(std::memory_order_relaxed) + weight, std::memory_order_relaxed);
  }

  struct Running {
    const char* operation;  ///< its kind
    Ticket ticket;
  };
  /// The operation that is being carried out.
  std::optional<Running> running() const noexcept {
    const auto running = running_.load(std::memory_order_relaxed);
    if (running == 0) return std::nullopt;
    return Running{operation_names[(running & ((1U << kind_bits) - 1)) - 1], running >> kind_bits};
  }

 private:
  static constexpr int kind_bits = 8;
  /// Before done_below: a later time than that of its value does no harm.
  std::atomic<LogicalTime> published_{0};
  std::mutex mutex_;
  LogicalTime accessed_ = 0;  ///< under the lock
  /// In one word, so that a look at it costs the lane nothing: ticket and kind + 1; 0 for nothing.
  std::atomic<std::uint64_t> running_{0};
};

/// The work that an actor on a thread of its own is busy with: a number, 0 for nothing. Written by
/// the actor, read by any thread.
class Busy {
 public:
  void with(std::uint64_t what) noexcept { what_.store(what, std::memory_order_relaxed); }
  std::uint64_t what() const noexcept { return what_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> what_{0};
};

}  // namespace polychron::msg
