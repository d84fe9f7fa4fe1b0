#include "messages/shared/lost.hpp"

#include <algorithm>
#include <iterator>

#include "messages/shared/observer_gate.hpp"

namespace polychron::msg {

LostSignal::LostSignal(std::string context, std::shared_ptr<Callbacks> callbacks,
                       Meanwhile meanwhile, std::shared_ptr<CallerWork> caller_work,
                       std::shared_ptr<const ObserverGate> gate)
    : context_(std::move(context)),
      callbacks_(std::move(callbacks)),
      meanwhile_(std::move(meanwhile)),
      caller_work_(std::move(caller_work)),
      gate_(std::move(gate)),
      no_memory_error_(describe(LostReason::out_of_memory, no_memory_.message)),
      error_(describe(LostReason::destroyed, "the context is being destroyed")) {}

Error LostSignal::describe(LostReason reason, const std::string& message) const {
  const bool ended = reason == LostReason::destroyed || reason == LostReason::runtime_shutdown;
  return Error(ended ? ErrorKind::invalid_state : ErrorKind::context_lost, message)
      .with_object(context_);
}

bool LostSignal::resolve(LostReason reason, std::string_view message) noexcept {
  std::vector<Promise<LostInfo>> watchers;
  {
    const std::lock_guard lock(mutex_);
    // planted: a loss is told twice
    if (lost_.look()) return false;
    try {
      LostInfo info{reason, std::string(message)};
      error_ = describe(reason, info.message);
      info_ = std::move(info);
    } catch (...) {
      error_ = no_memory_error_;
      info_.reason = LostReason::out_of_memory;
    }
    // planted: what a context says of its loss is lost
    watchers.swap(watchers_);
    lost_.set();
  }
  backlog_.close();
  for (const auto& watcher : watchers) {
    try {
      watcher.resolve(info_);
    } catch (...) {
      watcher.reject(error_);  // no memory for a copy of the message
    }
  }
  return true;
}

Future<LostInfo> LostSignal::watch(const std::shared_ptr<const LostSignal>& self) {
  auto promise = Promise<LostInfo>::make(self);
  auto future = promise.future();
  if (forked()) {
    promise.reject(polychron::detail::forked_error());
    return future;
  }
  std::vector<Promise<LostInfo>> unheard;  // go after the lock: a dropped promise asks for error()
  const std::lock_guard lock(mutex_);
  if (lost_.is_set()) {
    promise.resolve(info_);  // nobody can have chained a callback yet
    return future;
  }
  // Asked in a loop (is it lost yet?) it must not grow: futures that were dropped go.
  if (watchers_.size() >= prune_at_) {
    const auto dropped = std::partition(watchers_.begin(), watchers_.end(),
                                        [](const auto& watcher) { return !watcher.unheard(); });
    unheard.assign(std::move_iterator(dropped), std::move_iterator(watchers_.end()));
    watchers_.erase(dropped, watchers_.end());
    prune_at_ = std::max<std::size_t>(16, 2 * watchers_.size());
  }
  watchers_.push_back(std::move(promise));
  return future;
}

namespace {

constexpr std::int64_t unobserved = -1;

}  // namespace

std::int64_t LostSignal::begins_wait() const noexcept {
  const auto* const observer = gate_ ? gate_->observer() : nullptr;
  return observer == nullptr ? unobserved : observer->now();
}

void LostSignal::ends_wait(std::int64_t begun) const noexcept {
  if (begun == unobserved) return;
  if (auto* const observer = gate_->observer()) observer->waited(CallerWait::reply, begun);
}

LostSignal::Help LostSignal::help(const std::atomic<bool>& settled) const {
  if (meanwhile_) return settled ? Help::none : meanwhile_() ? Help::moved : Help::stuck;
  if (caller_work_) caller_work_->work_until(settled);
  return Help::none;
}

Error LostSignal::error() const noexcept {
  if (forked()) return polychron::detail::forked_error();
  const std::lock_guard lock(mutex_);
  return error_;
}

}  // namespace polychron::msg
