// The state of a Runtime: its own or a foreign actor system, and the contexts in it.
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
#include "observe/recording/recorder.hpp"
#include "polychron/runtime.hpp"

namespace polychron::detail {

/// Makes the backend of a context, or gives an error.
using BackendFactory =
    std::function<Result<std::shared_ptr<kernels::Backend>>(const ContextOptions&)>;

/// The factory that production uses: the device by its name, or else by the preferences.
Result<std::shared_ptr<kernels::Backend>> make_backend(const ContextOptions& options);
/// Context::accelerated().
bool is_accelerated(const kernels::Backend& backend);

class LocalPort;

/// The settings of a runtime in a foreign actor system.
struct Host {
  /// Devices and compilers get threads of their own; false under a test's scheduler.
  bool detached = true;
  msg::Now now{};              ///< the clock; the machine's by default
  msg::Meanwhile meanwhile{};  ///< for a simulated world: see messages/shared/waiting.hpp
  RuntimeOptions options{};    ///< the options that apply to a foreign system too
};

/// Thread-safe. Handles keep it alive; the actor system ends with it.
class RuntimeState : public std::enable_shared_from_this<RuntimeState> {
 public:
  /// Makes a runtime with its own actor system. Throws out_of_memory, type_error.
  static std::shared_ptr<RuntimeState> create(const RuntimeOptions& options,
                                              BackendFactory factory = make_backend);
  /// Makes a runtime in `system`, which must outlive every handle.
  static std::shared_ptr<RuntimeState> embed(caf::actor_system& system, BackendFactory factory,
                                             Host host = {});
  ~RuntimeState();

  Future<Context> create_context(const ContextOptions& options);
  /// See Runtime::shutdown.
  std::vector<RemainingActor> shutdown(
      std::chrono::nanoseconds patience = std::chrono::nanoseconds::max());
  /// Contexts made from now on report to `observer` instead of the runtime's recording.
  void observe(std::shared_ptr<msg::Observer> observer);
  /// Each context made from now on reports to the observer that `make` returns for it.
  using ObserverOf = std::function<std::shared_ptr<msg::Observer>(const ContextOptions&)>;
  void observe(ObserverOf make) { observer_of_ = std::move(make); }
  /// Contexts made from now on place operations as `placement` says.
  void place(msg::Placement placement) { placement_ = std::move(placement); }
  /// Starts a recording of every context, and discards the previous one.
  void start_trace(const TraceOptions& options);
  void stop_trace() noexcept;
  /// The recording, as the bytes of a file.
  std::vector<std::byte> trace() const;

  caf::actor_system& system() { return *system_; }
  msg::ActorRegistry& registry() { return *registry_; }
  std::shared_ptr<const msg::ActorRegistry> share_registry() const { return registry_; }
  const msg::Callbacks& callbacks() const { return *callbacks_; }
  /// Frees the scratch memory of lanes that have been idle for long. The home thread looks now and
  /// then; a driven world looks when its test says.
  void look_for_idle() noexcept;
  /// The number of contexts with memory in use: by a tensor, a plan, a lease or a write in flight.
  std::size_t contexts_holding_memory();

 private:
  class Origin;
  RuntimeState() = default;
  void start(const RuntimeOptions& options);
  std::unique_ptr<msg::HomeThread> make_home();
  void start_callbacks(const RuntimeOptions& options);
  void make_recorder();
  /// Switches every context's observer on while a recording goes on, and off.
  void listen();
  /// With POLYCHRON_TRACE=FILE in the environment: records from the start, and writes the file at
  /// the end.
  void obey_environment();
  void write_for_environment() noexcept;
  static void end(RuntimeState* state) noexcept;
  /// The options with numbers of cores and lanes in place of 0.
  ContextOptions with_shares(const ContextOptions& asked, const kernels::Backend& backend) const;
  /// One for each lane, or none.
  std::vector<std::shared_ptr<kernels::Team>> make_teams(const ContextOptions& options) const;
  actors::EnvironmentRef make_environment(const ContextOptions& options,
                                          std::shared_ptr<kernels::Backend> backend) const;
  Context spawn(const actors::EnvironmentRef& environment, const ContextOptions& options);

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
  const std::shared_ptr<kernels::Executions> executions_ = std::make_shared<kernels::Executions>();
  std::shared_ptr<recording::Recorder> recorder_;
  std::filesystem::path trace_file_;  ///< from the environment; empty: none
  const Process process_;
  std::shared_ptr<msg::ActorRegistry> registry_ = std::make_shared<msg::ActorRegistry>();
  msg::Guarded<bool> shut_down_{false};
  msg::Guarded<std::vector<std::weak_ptr<LocalPort>>> ports_;
  msg::Guarded<std::vector<std::weak_ptr<msg::Budget>>> budgets_;  ///< kept by reservations
  msg::Guarded<std::vector<std::weak_ptr<msg::Scratch>>> scratch_;
};

}  // namespace polychron::detail
