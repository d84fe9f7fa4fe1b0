// What a Runtime owns: an actor system, or a place in somebody else's, and the contexts in it.
#pragma once

#include <caf/all.hpp>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "actors/actor.hpp"
#include "polychron/runtime.hpp"

namespace polychron::detail {

/// Makes the backend of a context, or says why there is none.
using BackendFactory =
    std::function<Result<std::shared_ptr<kernels::Backend>>(const ContextOptions&)>;

/// The factory that production uses: "cpu", "gpu".
Result<std::shared_ptr<kernels::Backend>> make_backend(const ContextOptions& options);

/// Thread-safe. Handles keep it alive; the actor system ends with it.
class RuntimeState : public std::enable_shared_from_this<RuntimeState> {
 public:
  /// With an actor system of its own.
  static std::shared_ptr<RuntimeState> create(const RuntimeOptions& options,
                                              BackendFactory factory = make_backend);
  /// In `system`, which must outlive every handle. `detached`: devices and compilers get threads of
  /// their own; false for a scheduler that is driven by a test. `now`: where time comes from.
  static std::shared_ptr<RuntimeState> embed(caf::actor_system& system, BackendFactory factory,
                                             bool detached, msg::Now now = {});

  Future<Context> create_context(const ContextOptions& options);
  /// See Runtime::shutdown.
  std::vector<RemainingActor> shutdown(
      std::chrono::nanoseconds patience = std::chrono::nanoseconds::max());

  caf::actor_system& system() { return *system_; }
  actors::Census& census() { return *census_; }
  /// Contexts of which somebody still holds bytes: a tensor, a plan, a lease, a write under way.
  std::size_t contexts_holding_memory();

 private:
  RuntimeState() = default;

  std::optional<caf::actor_system_config> config_;
  std::optional<caf::actor_system> own_system_;  ///< destroyed before config_
  caf::actor_system* system_ = nullptr;
  BackendFactory factory_;
  msg::Now now_ = [] { return msg::Clock::now(); };
  bool detached_ = true;
  bool driven_ = false;  ///< by a test, which lets actors end: shutdown must not wait for them
  std::shared_ptr<actors::Census> census_ = std::make_shared<actors::Census>();
  std::mutex mutex_;
  bool shut_down_ = false;
  std::vector<std::weak_ptr<ContextHandle>> contexts_;
  std::vector<std::weak_ptr<msg::Budget>> budgets_;  ///< a reservation keeps its budget alive
};

}  // namespace polychron::detail
