#include "messages/shared/payload.hpp"

namespace polychron::msg {

bool Rendezvous::claim() noexcept {
  const std::lock_guard lock(mutex_);
  if (state_ != State::waiting) return false;
  state_ = State::claimed;  // the waiter need not know: it looks before it gives up
  return true;
}

void Rendezvous::finish(std::optional<Error> error) noexcept {
  const std::lock_guard lock(mutex_);
  if (state_ == State::finished) return;
  state_ = State::finished;
  error_ = std::move(error);
  changed_.notify_all();
}

std::optional<Error> Rendezvous::wait(const Conditions& conditions, const Now& now,
                                      const Meanwhile& meanwhile) {
  std::unique_lock lock(mutex_);
  const auto met = [this] { return state_ != State::waiting; };
  const auto over = [this] { return state_ == State::finished; };
  try {
    wait_until(lock, changed_, conditions, now, meanwhile, met);
  } catch (...) {  // no memory to listen for a cancellation
    if (!lock.owns_lock()) lock.lock();
    if (!met()) {
      state_ = State::finished;
      throw;
    }
  }
  if (!met()) {
    state_ = State::finished;  // withdrawn: the device finds nobody
    if (auto error = unmet(conditions, now)) return error;
    return Error(ErrorKind::quota_exceeded, "nothing in this world will ever take the bytes");
  }
  wait_until(lock, changed_, {}, now, meanwhile, over);
  return error_;
}

}  // namespace polychron::msg
