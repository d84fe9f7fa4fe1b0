// How far a lane of the device timeline has come.
#pragma once

#include <atomic>
#include <optional>

#include "messages/device.hpp"

namespace polychron::actors {

/// Written by the lane's device actor; read by anybody.
class LaneProgress {
 public:
  /// All operations before this turn are done. Read by the other lanes and by the context, to leave
  /// out a wait that is over already.
  alignas(64) std::atomic<msg::Ticket> done_below{1};

  template <class M>
  void begin(const M& m) noexcept {
    running_.store(m.stamp.ticket << kind_bits | (msg::operation_kind<M> + 1),
                   std::memory_order_relaxed);
  }
  void end() noexcept { running_.store(0, std::memory_order_relaxed); }

  struct Running {
    const char* operation;  ///< its kind
    msg::Ticket ticket;
  };
  /// What is being carried out.
  std::optional<Running> running() const noexcept {
    const auto running = running_.load(std::memory_order_relaxed);
    if (running == 0) return std::nullopt;
    return Running{msg::operation_names[(running & ((1U << kind_bits) - 1)) - 1],
                   running >> kind_bits};
  }

 private:
  static constexpr int kind_bits = 8;
  /// In one word, so that a look at it costs the lane nothing: ticket and kind + 1; 0 for nothing.
  std::atomic<std::uint64_t> running_{0};
};

}  // namespace polychron::actors
