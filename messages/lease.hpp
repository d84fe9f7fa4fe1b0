// A lease as the actors see it.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "messages/memory.hpp"
#include "messages/stamp.hpp"
#include "polychron/lease.hpp"

namespace polychron::msg {

/// Shared by the holder, the tensor's actor and the device. `memory` and `bytes` are written by the
/// device before it grants, and not after.
class Lease {
 public:
  explicit Lease(LeaseMode lease_mode) : mode(lease_mode) {}

  const LeaseMode mode;
  std::shared_ptr<Memory> memory;
  std::span<std::byte> bytes;
  /// Returned, or its tensor destroyed: the device goes on.
  std::atomic<bool> ended{false};

  bool revoked() const noexcept { return revoked_.load(std::memory_order_acquire); }
  void revoke() {
    std::function<void()> callback;
    {
      const std::lock_guard lock(mutex_);
      if (revoked_.exchange(true)) return;
      callback = std::exchange(callback_, nullptr);
    }
    if (callback) callback();
  }
  void on_revoked(std::function<void()> callback) {
    {
      const std::lock_guard lock(mutex_);
      if (!revoked_) {
        callback_ = std::move(callback);
        return;
      }
    }
    if (callback) callback();
  }

 private:
  std::atomic<bool> revoked_{false};
  std::mutex mutex_;
  std::function<void()> callback_;
};
using LeaseRef = std::shared_ptr<Lease>;

/// A lease that was asked for, and the operation that grants it.
struct Rent {
  LeaseRef lease;
  LaneTurn at;
};

}  // namespace polychron::msg
