#include "polychron/cancellation.hpp"

#include "base/cancellation_state.hpp"

namespace polychron {

Cancellation::Cancellation()
    : state_(detail::with_errors([] { return std::make_shared<detail::CancellationState>(); })) {}

void Cancellation::cancel() noexcept { state_->cancel(); }

bool Cancellation::cancelled() const noexcept { return state_->cancelled(); }

namespace detail {

void CancellationState::cancel() noexcept {
  if (cancelled_.exchange(true) || process_.forked()) return;
  const std::lock_guard lock(mutex_);
  for (const auto& listener : listeners_) listener();
}

std::list<CancellationState::Listener>::iterator CancellationState::listen(Listener listener) {
  const std::lock_guard lock(mutex_);
  return listeners_.insert(listeners_.end(), std::move(listener));
}

void CancellationState::unlisten(std::list<Listener>::iterator listener) {
  const std::lock_guard lock(mutex_);
  listeners_.erase(listener);
}

}  // namespace detail

}  // namespace polychron
