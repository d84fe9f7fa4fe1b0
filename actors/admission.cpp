#include <algorithm>

#include "actors/admission.hpp"

namespace polychron::actors {

std::uint64_t Admission::look() noexcept {
  const auto left = left_.load();
  known_left_.store(left, std::memory_order_relaxed);
  const auto entered = entered_.load();
  const auto now = entered > left ? entered - left : 0;
  auto peak = peak_.load();
  while (peak < now && !peak_.compare_exchange_weak(peak, now)) {
  }
  return now;
}

bool Admission::try_enter(std::uint64_t limit) {
  auto entered = entered_.load();
  do {
    if (entered - left_.load() >= limit) return false;
  } while (!entered_.compare_exchange_weak(entered, entered + 1));
  return true;
}

void Admission::enter() {
  const auto mine = ++entered_;
  const auto known = known_left_.load(std::memory_order_relaxed);
  constexpr std::uint64_t seldom = 64;
  if (mine - known <= most_ && mine % seldom != 0) return;
  if (look() <= most_ || closed_ || detail::CallbackScope::active()) return;
  --entered_;
  if (policy_ == AdmissionPolicy::fail) {
    ++refused_;
    throw Error(ErrorKind::quota_exceeded,
                "the context has " + std::to_string(most_) + " operations in flight, its limit");
  }
  ++blocked_;
  // Half of the places must be free before anybody goes on: a wake-up an operation would cost more
  // than the operation.
  block_until([this] { return try_enter(most_ / 2 + 1); });
}

void Admission::leave() noexcept {
  ++left_;
  // Sequentially consistent against block_until(): a waiter registers, then looks.
  if (waiting_.load() == 0 || in_flight() > most_ / 2) return;
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
    const bool last_chance = in_flight() == 0;
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
