// What a Runtime owns: an actor system, or a place in somebody else's, and the contexts in it.
#pragma once

#include <caf/all.hpp>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "actors/engine/thread_pool.hpp"
#include "actors/environment.hpp"
#include "messages/shared/guarded.hpp"
#include "messages/shared/home_thread.hpp"
#include "polychron/runtime.hpp"
#include "recording/recorder.hpp"

namespace polychron::detail {

/// Makes the backend of a context, or says why there is none.
using BackendFactory =
    std::function<Result<std::shared_ptr<kernels::Backend>>(const ContextOptions&)>;

/// The factory that production uses: "cpu", "gpu".
Result<std::shared_ptr<kernels::Backend>> make_backend(const ContextOptions& options);

class LocalPort;

/// What drives a runtime that lives in somebody else's actor system.
struct Host {
  /// Devices and compilers get threads of their own; false for a scheduler that a test drives.
  bool detached = true;
  msg::Now now{};              ///< where time comes from; the machine's clock by default
  msg::Meanwhile meanwhile{};  ///< of a driven world: see messages/shared/waiting.hpp
  RuntimeOptions options{};    ///< what a runtime of its own takes from here applies, too
};

/// Thread-safe. Handles keep it alive; the actor system ends with it.
class RuntimeState : public std::enable_shared_from_this<RuntimeState> {
 public:
  /// With an actor system of its own. Throws out_of_memory, type_error.
  static std::shared_ptr<RuntimeState> create(const RuntimeOptions& options,
                                              BackendFactory factory = make_backend);
  /// In `system`, which must outlive every handle.
  static std::shared_ptr<RuntimeState> embed(caf::actor_system& system, BackendFactory factory,
                                             Host host = {});
  ~RuntimeState();

  Future<Context> create_context(const ContextOptions& options);
  /// See Runtime::shutdown.
  std::vector<RemainingActor> shutdown(
      std::chrono::nanoseconds patience = std::chrono::nanoseconds::max());
  /// Contexts that are made from now on report to `observer`, and to no recording of the runtime.
  void observe(std::shared_ptr<msg::Observer> observer);
  /// Each context that is made from now on reports to what `make` returns for it.
  using ObserverOf = std::function<std::shared_ptr<msg::Observer>(const ContextOptions&)>;
  void observe(ObserverOf make) { observer_of_ = std::move(make); }
  /// Contexts that are made from now on put operations where `placement` says.
  void place(msg::Placement placement) { placement_ = std::move(placement); }
  /// From now on every context is recorded, and what was recorded before is forgotten.
  void start_trace(const TraceOptions& options);
  void stop_trace() noexcept;
  /// What has been recorded, as a file.
  std::vector<std::byte> trace() const;

  caf::actor_system& system() { return *system_; }
  msg::Census& census() { return *census_; }
  std::shared_ptr<const msg::Census> share_census() const { return census_; }
  const msg::Callbacks& callbacks() const { return *callbacks_; }
  /// Contexts of which somebody still holds bytes: a tensor, a plan, a lease, a write under way.
  std::size_t contexts_holding_memory();

 private:
  class Origin;
  RuntimeState() = default;
  void start(const RuntimeOptions& options);
  void start_callbacks(const RuntimeOptions& options);
  void make_recorder();
  /// Every context's observer.
  void listen(bool on);
  /// POLYCHRON_TRACE=FILE in the environment: records from the beginning, to be written at the end.
  void obey_environment();
  void write_for_environment() noexcept;
  static void end(RuntimeState* state) noexcept;
  actors::EnvironmentRef make_environment(const ContextOptions& options,
                                          std::shared_ptr<kernels::Backend> backend) const;
  Context spawn(const actors::EnvironmentRef& environment, bool strict);

  std::unique_ptr<msg::HomeThread> home_;
  std::optional<engine::PoolConfig> config_;
  std::optional<caf::actor_system> own_system_;  ///< destroyed before config_
  caf::actor_system* system_ = nullptr;
  std::shared_ptr<engine::ThreadPool> shared_pool_;  ///< null if callers run nothing
  BackendFactory factory_;
  Host host_;
  std::shared_ptr<msg::Callbacks> callbacks_;
  std::shared_ptr<msg::Log> log_;
  std::shared_ptr<const Origin> origin_;
  ObserverOf observer_of_;
  msg::Placement placement_;
  std::shared_ptr<recording::Recorder> recorder_;
  std::filesystem::path trace_file_;  ///< of the environment; empty: none
  const std::uint32_t generation_ = fork_generation();
  std::shared_ptr<msg::Census> census_ = std::make_shared<msg::Census>();
  msg::Guarded<bool> shut_down_{false};
  msg::Guarded<std::vector<std::weak_ptr<LocalPort>>> ports_;
  msg::Guarded<std::vector<std::weak_ptr<msg::Budget>>> budgets_;  ///< kept by reservations
};

}  // namespace polychron::detail
