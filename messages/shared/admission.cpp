#include "messages/shared/admission.hpp"

#include <algorithm>

#include "base/invariant.hpp"

namespace polychron::msg {

void Permit::give_back() noexcept {
  if (auto* const admission = std::exchange(admission_, nullptr)) admission->leave(false, false);
}

void Permit::give_back_in_passing(bool idle) noexcept {
  if (auto* const admission = std::exchange(admission_, nullptr)) admission->leave(true, idle);
}

Admission::Admission(Settings settings, std::shared_ptr<const polychron::detail::Origin> lost)
    : settings_(std::move(settings)), lost_(std::move(lost)) {}

bool Admission::try_enter() noexcept {
  auto entered = entered_.load(std::memory_order_relaxed);
  do {
    if (entered - known_left_.load(std::memory_order_relaxed) >= settings_.most) {
      // Sequentially consistent: see wait_for_permit().
      // planted: a place too few
      const auto left = left_.load();
      known_left_.store(left, std::memory_order_relaxed);
      // planted: a place too many
      if (entered >= left && entered - left >= settings_.most) return false;
    }
  } while (!entered_.compare_exchange_weak(entered, entered + 1));
  constexpr std::uint64_t seldom = 64;
  if (entered % seldom == 0) look();
  return true;
}

void Admission::look() noexcept {
  const auto now = in_flight();
  auto peak = peak_.load(std::memory_order_relaxed);
  while (peak < now && !peak_.compare_exchange_weak(peak, now)) {
  }
}

std::uint64_t Admission::in_flight() const noexcept {
  // A place that was left was entered before, so in this order the difference is not negative. It
  // is exact if none is left meanwhile.
  for (int looks = 0; looks < 64; ++looks) {
    const auto left = left_.load();
    const auto entered = entered_.load();
    if (left_.load() == left) return entered - left;
  }
  const auto left = left_.load();
  return std::min(entered_.load() - left, settings_.most);
}

Permit Admission::enter(const Conditions& conditions) {
  if (waiting_.load() == 0 && try_enter()) return Permit(*this);
  look();
  if (settings_.policy == AdmissionPolicy::fail) {
    ++refused_;
    throw Error(ErrorKind::quota_exceeded, "the context has " + std::to_string(settings_.most) +
                                               " " + settings_.what + ", its limit");
  }
  return wait_for_permit(conditions);
}

Permit Admission::wait_for_permit(const Conditions& conditions) {
  std::unique_lock lock(mutex_);
  if (closed_) throw Error(lost_->error());
  const auto me = waiters_.emplace(waiters_.end());
  // Sequentially consistent against leave(): one of the two sees the other.
  ++waiting_;
  ++blocked_;
  admit();
  try {
    wait_until(lock, me->called, conditions, settings_.now, settings_.meanwhile,
               [&] { return me->admitted || closed_; });
  } catch (...) {
    if (!lock.owns_lock()) lock.lock();
    if (me->admitted) ++left_;
    waiters_.erase(me);
    --waiting_;
    admit();
    throw;
  }
  const bool admitted = me->admitted;
  waiters_.erase(me);
  // Not before: until those who were admitted are on their way, newcomers line up behind them.
  --waiting_;
  admit();
  if (admitted) return Permit(*this);
  if (closed_) throw Error(lost_->error());
  if (auto error = unmet(conditions, settings_.now)) throw Error(*error);
  throw Error(ErrorKind::quota_exceeded, "nothing in this world will ever make room");
}

void Admission::admit() noexcept {
  if (closed_) return;
  for (auto& waiter : waiters_) {
    if (waiter.admitted) continue;
    if (!try_enter()) return;
    waiter.admitted = true;
    waiter.called.notify_one();
  }
}

void Admission::leave(bool in_passing, bool idle) noexcept {
  // planted: a place is lost when a lane is idle
  ++left_;
  // Sequentially consistent against wait_for_permit(): a waiter registers, then looks.
  if (waiting_.load() == 0) return;
  // A wake-up an operation would cost more than the operation: a busy lane lets half of the permits
  // go free first. It comes by again, and settles when it has nothing left to do.
  if (in_passing && !idle && in_flight() > settings_.most / 2) return;
  settle();
}

void Admission::settle() noexcept {
  const std::lock_guard lock(mutex_);
  admit();
}

void Admission::close() noexcept {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  for (auto& waiter : waiters_) waiter.called.notify_one();
}

}  // namespace polychron::msg
