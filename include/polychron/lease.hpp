// Leases: exclusive access to a tensor's memory without a copy, until the lease is returned.
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

/// The behaviour of operations on a leased tensor until the lease is returned.
enum class LeaseMode : std::uint8_t {
  wait,  ///< they and their dependents wait, in order; other operations go on
  /// They fail with invalid_state and leave the leased tensor alone; other tensors that they write
  /// become errored.
  fail,
};

/// Exclusive access to the bytes of a tensor: on the processor without a copy, on a GPU by a copy
/// each way. return_now() or the destructor returns it: the bytes written are then the tensor's
/// contents. Destroying the tensor or losing the context *revokes* the lease: the memory stays
/// valid until the holder returns the lease, but its contents are then lost. Movable. One thread at
/// a time, except revoked(), which any thread may call.
class TensorLease {
 public:
  /// A lease of nothing.
  TensorLease() = default;
  /// For the library only; callers use Context::export_tensor().
  explicit TensorLease(std::shared_ptr<detail::LeaseHandle> handle);
  /// return_now()
  ~TensorLease();
  /// Leaves the other lease empty.
  TensorLease(TensorLease&&) noexcept = default;
  /// Returns the lease that it holds, if any, and leaves `other` empty.
  TensorLease& operator=(TensorLease&& other) noexcept;

  /// False for a default-constructed, moved-from or returned lease.
  explicit operator bool() const noexcept { return handle_ != nullptr; }
  /// The tensor's memory. Throws invalid_state after the lease was returned, and in a forked child.
  std::span<std::byte> bytes() const;
  /// True once the tensor is destroyed or its context lost, and in a forked child; false after
  /// return_now(). Any thread.
  bool revoked() const;
  /// Calls `callback` once when the lease is revoked, or soon if it already is. It runs where the
  /// runtime runs callbacks, never inside this call. A later callback replaces an earlier one.
  /// Throws invalid_state as bytes() does.
  void on_revoked(std::function<void()> callback);
  /// Gives the memory back to the tensor; frees it if the lease is revoked. Idempotent.
  void return_now();

 private:
  detail::LeaseHandle& handle() const;
  std::shared_ptr<detail::LeaseHandle> handle_;
};

}  // namespace polychron
