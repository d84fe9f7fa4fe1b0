#include "messages/shared/lease.hpp"

#include "polychron/future.hpp"

namespace polychron::msg {

struct Lease::Callback final : polychron::detail::Deferred {
  explicit Callback(std::function<void()> f) : call(std::move(f)) {}
  void run() override {
    if (wanted) call();  // else it has come to be dropped
  }
  const std::function<void()> call;
  bool wanted = true;
};

void Lease::revoke() noexcept {
  std::shared_ptr<Callback> callback;
  {
    const std::lock_guard lock(mutex_);
    if (revoked_.exchange(true)) return;
    callback = std::exchange(callback_, nullptr);
  }
  // planted: the callback of a revoked lease does not run
  if (callback) origin_->post(std::move(callback));
}

void Lease::on_revoked(std::function<void()> callback) {
  auto deferred = callback ? std::make_shared<Callback>(std::move(callback)) : nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (!revoked_) {
      callback_.swap(deferred);
      if (deferred) deferred->wanted = false;
    }
  }
  if (deferred) origin_->post(std::move(deferred));
}

}  // namespace polychron::msg
