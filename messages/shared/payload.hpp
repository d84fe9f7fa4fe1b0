// Bytes on their way to a tensor.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <span>

#include "messages/shared/budget.hpp"
#include "messages/shared/waiting.hpp"
#include "polychron/buffer.hpp"
#include "polychron/future.hpp"
#include "polychron/result.hpp"

namespace polychron::msg {

/// The place where a caller waits with its bytes, because a second copy of them does not fit. The
/// device takes them straight into the tensor's memory. Written by both; thread-safe.
class Rendezvous {
 public:
  explicit Rendezvous(std::span<const std::byte> caller_bytes) : bytes(caller_bytes) {}

  const std::span<const std::byte> bytes;  ///< the device may touch them from claim() to finish()

  /// By the device: true if the caller is still there; it stays until finish().
  bool claim() noexcept;
  void finish(std::optional<Error> error) noexcept;
  /// By the caller: waits until the device has the bytes. The error if it will not have them:
  /// `conditions` ended the wait, or the context is gone.
  std::optional<Error> wait(const Conditions& conditions, const Now& now,
                            const Meanwhile& meanwhile);

 private:
  enum class State : std::uint8_t { waiting, claimed, finished };
  std::mutex mutex_;
  std::condition_variable changed_;
  State state_ = State::waiting;
  std::optional<Error> error_;
};

/// The bytes of a write: owned, with what they take of the budget, or still in the caller's hands.
/// Opened by the device that carries the write out.
class Payload {
 public:
  Payload() = default;
  Payload(Buffer&& owned, Reservation&& reserved)
      : bytes(std::move(owned)), reservation(std::move(reserved)) {}
  Payload(std::shared_ptr<Rendezvous> caller,
          std::shared_ptr<const polychron::detail::Origin> origin)
      : meeting(std::move(caller)), origin_(std::move(origin)) {}
  /// Of a constant tensor: shared, and counted where they are kept.
  explicit Payload(std::shared_ptr<const Buffer> shared) : constant(std::move(shared)) {}
  Payload(const Payload&) = delete;
  Payload& operator=(const Payload&) = delete;
  /// A caller that was never met hears of the loss of the context.
  ~Payload() {
    if (meeting) meeting->finish(origin_->error());
  }

  std::span<const std::byte> view() const {
    if (constant) return constant->bytes();
    return meeting ? meeting->bytes : bytes.bytes();
  }

  Buffer bytes;
  Reservation reservation;
  std::shared_ptr<Rendezvous> meeting;     ///< null if the bytes are here
  std::shared_ptr<const Buffer> constant;  ///< null if they will be written

 private:
  std::shared_ptr<const polychron::detail::Origin> origin_;
};
/// Shared, because CAF copies messages.
using PayloadRef = std::shared_ptr<Payload>;

}  // namespace polychron::msg
