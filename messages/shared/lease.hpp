// A lease as the actors see it.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

#include "messages/memory.hpp"
#include "messages/shared/logical_clock.hpp"
#include "polychron/future.hpp"
#include "polychron/lease.hpp"

namespace polychron::msg {

/// Shared by the holder, the tensor's actor and the device.
///
/// `memory` and `bytes` have one user at a time. The device puts them in before it grants. Then
/// they are the holder's, and nobody interrupts it. The device takes the memory back when it hears
/// that the lease was returned. A revoked lease never comes back: the memory goes with the last
/// reference.
class Lease {
 public:
  Lease(LeaseMode lease_mode, std::shared_ptr<const polychron::detail::Origin> origin)
      : mode(lease_mode), origin_(std::move(origin)) {}

  const LeaseMode mode;
  std::optional<Memory> memory;
  std::span<std::byte> bytes;
  /// When the device put them in, which is before the holder gives them back. Any thread.
  std::atomic<LogicalTime> granted{0};

  /// Any thread.
  bool revoked() const noexcept { return revoked_.load(std::memory_order_acquire); }
  /// By the tensor's actor: the tensor is destroyed or the context lost.
  void revoke() noexcept;
  /// The holder calls this. It replaces an earlier callback. Captures of a replaced callback are
  /// destroyed on the thread that runs callbacks, and so are those of the last when the lease ends.
  void on_revoked(std::function<void()> callback);

 private:
  struct Callback;

  const std::shared_ptr<const polychron::detail::Origin> origin_;
  std::atomic<bool> revoked_{false};
  std::mutex mutex_;
  std::shared_ptr<Callback> callback_;
};
using LeaseRef = std::shared_ptr<Lease>;

}  // namespace polychron::msg
