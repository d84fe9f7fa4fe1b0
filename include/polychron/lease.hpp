// Renting a tensor's memory out: exclusive access without a copy, until the lease is returned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

namespace polychron {

namespace detail {
struct LeaseHandle;
}

/// What operations on a leased tensor do until the lease is returned.
enum class LeaseMode : std::uint8_t {
  wait,  ///< they wait, with all that depends on them, in order; the rest of the timeline goes on
  fail,  ///< they fail with invalid_state, and leave the leased tensor alone; what else they would
         ///< have written is errored
};

/// Exclusive access to the bytes of a tensor, without a copy. Returned by return_now() or by the
/// destructor: what was written is then the tensor's contents. Destroying the tensor or losing the
/// context *revokes* the lease: the memory stays valid until the holder lets go, but nobody will
/// ever see what is written to it. Movable; used by one thread at a time, but for revoked().
class TensorLease {
 public:
  /// Of nothing.
  TensorLease() = default;
  /// The library's own way to make one; others have Context::export_tensor().
  explicit TensorLease(std::shared_ptr<detail::LeaseHandle> handle);
  /// return_now()
  ~TensorLease();
  /// The other has nothing then.
  TensorLease(TensorLease&&) noexcept = default;
  /// Returns the lease that it has, if any; `other` has nothing then.
  TensorLease& operator=(TensorLease&& other) noexcept;

  /// False for a default-constructed, moved-from or returned lease.
  explicit operator bool() const noexcept { return handle_ != nullptr; }
  /// The tensor's memory. Throws invalid_state after the lease was returned.
  std::span<std::byte> bytes() const;
  /// True once the tensor was destroyed or its context lost; false after return_now(). Any thread.
  bool revoked() const;
  /// Calls `callback` once when the lease is revoked, also if it is already; where the runtime runs
  /// callbacks, never in here. One callback a lease: a later one replaces it.
  void on_revoked(std::function<void()> callback);
  /// Gives the memory back to the tensor; frees it if the lease is revoked. Idempotent.
  void return_now();

 private:
  std::shared_ptr<detail::LeaseHandle> handle_;
};

}  // namespace polychron
