// How a context tells everybody, once, that it is gone.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "messages/shared/backlog.hpp"
#include "messages/shared/callbacks.hpp"
#include "messages/shared/caller_work.hpp"
#include "messages/shared/logical_clock.hpp"
#include "messages/shared/waiting.hpp"
#include "polychron/future.hpp"
#include "polychron/lost.hpp"

namespace polychron::msg {

class ObserverGate;

/// Shared by a context's actors and its handles: whether it is lost, why, and what stands behind
/// its promises. Resolved once: the first resolution counts. Every call and every operation reads
/// it. Thread-safe.
class LostSignal final : public polychron::detail::Origin {
 public:
  /// `meanwhile`: of a driven world, else empty. `caller_work`: null where callers run nothing
  /// while they wait.
  /// `gate`: of the context, where callers' waits are observed; may be null.
  LostSignal(std::string context, std::shared_ptr<Callbacks> callbacks, Meanwhile meanwhile,
             std::shared_ptr<CallerWork> caller_work = nullptr,
             std::shared_ptr<const ObserverGate> gate = nullptr);

  /// True once resolved, and in a forked child. Cheap: asked by every call and every operation.
  bool lost() const noexcept { return lost_.is_set() || forked(); }
  /// lost() as an event of a recording, which orders this look and the loss.
  bool look() noexcept { return lost_.look(); }

  /// The first call settles every future of watch(), and gives true; later ones do nothing. Never
  /// fails: without memory for the message it says just that.
  bool resolve(LostReason reason, std::string_view message) noexcept;
  Future<LostInfo> watch(const std::shared_ptr<const LostSignal>& self);

  /// The error that calls on the lost context report.
  Error error() const noexcept override;
  void post(std::shared_ptr<polychron::detail::Deferred> callback) const noexcept override {
    callbacks_->post(std::move(callback));
  }
  void waits() const noexcept override { backlog_.add(); }
  void taken() const noexcept override { backlog_.take(); }
  Help help(const std::atomic<bool>& settled) const override;
  std::int64_t begins_wait() const noexcept override;
  void ends_wait(std::int64_t begun) const noexcept override;
  Backlog& backlog() const noexcept { return backlog_; }

 private:
  Error describe(LostReason reason, const std::string& message) const;

  const std::string context_;
  const std::shared_ptr<Callbacks> callbacks_;
  const Meanwhile meanwhile_;
  const std::shared_ptr<CallerWork> caller_work_;
  const std::shared_ptr<const ObserverGate> gate_;
  const LostInfo no_memory_{LostReason::out_of_memory, "out of memory"};
  const Error no_memory_error_;
  mutable Backlog backlog_;
  alignas(64) RacedFlag lost_;  ///< every look writes here while somebody records
  alignas(64) mutable std::mutex mutex_;
  LostInfo info_;
  Error error_;  ///< made ahead: a dropped promise must need no memory to say why
  std::vector<Promise<LostInfo>> watchers_;
  std::size_t prune_at_ = 16;
};

}  // namespace polychron::msg
