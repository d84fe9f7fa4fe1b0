#include <algorithm>

#include "actors/admission.hpp"

namespace polychron::actors {

void Admission::enter() {
  auto now = ++in_flight_;
  if (now > most_ && !closed_ && !detail::CallbackScope::active()) {
    if (policy_ == AdmissionPolicy::fail) {
      leave();
      ++refused_;
      throw Error(ErrorKind::quota_exceeded,
                  "the context has " + std::to_string(most_) + " operations in flight, its limit");
    }
    --in_flight_;
    ++blocked_;
    // Half of the places must be free before anybody goes on: a wake-up an operation would cost
    // more than the operation.
    block_until([&] {
      if (in_flight_ > most_ / 2) return false;
      now = ++in_flight_;
      return true;
    });
  }
  auto peak = peak_.load();
  while (peak < now && !peak_.compare_exchange_weak(peak, now)) {
  }
}

void Admission::leave() noexcept {
  const auto left = --in_flight_;
  // Sequentially consistent against block_until(): a waiter registers, then looks.
  if (waiting_.load() == 0 || left > most_ / 2) return;
  const std::lock_guard lock(mutex_);
  room_.notify_all();
}

template <class Ready>
void Admission::block_until(Ready ready) {
  std::unique_lock lock(mutex_);
  ++waiting_;
  room_.wait(lock, [&] { return closed_ || ready(); });
  --waiting_;
}

msg::Reservation Admission::reserve(const std::shared_ptr<msg::Budget>& budget,
                                    std::uint64_t bytes) {
  if (auto reservation = msg::Reservation::take(budget, bytes)) return std::move(*reservation);
  const auto refuse = [&](ErrorKind kind) {
    ++refused_;
    return Error(kind,
                 describe_bytes(bytes) + " asked, " +
                     describe_bytes(budget->limit() - std::min(budget->limit(), budget->used())) +
                     " left of the context's " + describe_bytes(budget->limit()));
  };
  if (policy_ == AdmissionPolicy::fail || detail::CallbackScope::active())
    throw refuse(ErrorKind::quota_exceeded);
  ++blocked_;
  std::optional<msg::Reservation> reservation;
  // Operations in flight may give bytes back; without any, waiting would never end.
  block_until([&] {
    const bool last_chance = in_flight_ == 0;
    reservation = msg::Reservation::take(budget, bytes);
    return reservation || last_chance;
  });
  if (!reservation) throw refuse(ErrorKind::out_of_memory);
  return std::move(*reservation);
}

void Admission::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  room_.notify_all();
}

}  // namespace polychron::actors
