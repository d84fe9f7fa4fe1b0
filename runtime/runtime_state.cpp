#include "runtime/runtime_state.hpp"

#include <algorithm>
#include <system_error>

#include "actors/context.hpp"
#include "base/invariant.hpp"
#include "messages/shared/library_thread.hpp"
#include "runtime/handles.hpp"
#include "runtime/local_port.hpp"

namespace polychron::detail {

namespace {

struct MarkThreads : caf::thread_hook {
  void init(caf::actor_system&) override {}
  void thread_started() override { msg::carry_actors_for_good(); }
  void thread_terminates() override {}
};

/// "a callback threw: no such key".
std::string thrown(const std::exception_ptr& exception) {
  const std::string what = "a callback threw";
  try {
    std::rethrow_exception(exception);
  } catch (const std::exception& error) {
    return what + ": " + error.what();
  } catch (...) {
    return what;
  }
}

/// Runs `start`, and turns the refusal of a thread into an Error.
template <class Start>
void start_threads(const Start& start) {
  try {
    start();
  } catch (const std::system_error& error) {
    throw Error(ErrorKind::out_of_memory,
                std::string("the system refused a thread of the runtime: ") + error.what());
  }
}

constexpr int most_threads = 1024, most_lanes = 256, most_lanes_by_default = 16;

std::optional<std::string> wrong_options(const ContextOptions& options) {
  const auto outside = [](const char* name, int value, int most) {
    return std::string(name) + ": expected 0 to " + std::to_string(most) + ", got " +
           std::to_string(value);
  };
  if (options.cores < 0 || options.cores > most_threads)
    return outside("cores", options.cores, most_threads);
  if (options.threads < 0 || options.threads > most_threads)
    return outside("threads", options.threads, most_threads);
  if (options.lanes < 0 || options.lanes > most_lanes)
    return outside("lanes", options.lanes, most_lanes);
  if (options.lanes * options.threads > most_threads)
    return "lanes with threads each: expected at most " + std::to_string(most_threads) +
           " threads in all, got " + std::to_string(options.lanes) + " times " +
           std::to_string(options.threads);
  if (options.max_in_flight < 1) return "max_in_flight must be at least 1";
  return std::nullopt;
}

}  // namespace

ContextOptions RuntimeState::with_shares(const ContextOptions& asked,
                                         const kernels::Backend& backend) const {
  auto options = asked;
  // A simulated world has one thread, and a device that works by itself needs one.
  if (options.cores == 0) options.cores = host_.detached && !backend.submits() ? usable_cores() : 1;
  const int lanes = options.cores / std::max(1, options.threads);
  if (options.lanes == 0) options.lanes = std::clamp(lanes, 1, most_lanes_by_default);
  return options;
}

std::vector<std::shared_ptr<kernels::Team>> RuntimeState::make_teams(
    const ContextOptions& options) const {
  std::vector<std::shared_ptr<kernels::Team>> teams;
  const auto lanes = static_cast<std::size_t>(options.lanes);
  if (!host_.detached || options.threads == 1) return teams;
  if (options.threads == 0 && options.cores > 1) {
    const auto crew = std::make_shared<kernels::Crew>(
        lanes, static_cast<std::size_t>(options.cores), executions_);
    while (teams.size() < lanes)
      teams.push_back(std::make_shared<kernels::Team>(crew, teams.size()));
  }
  while (options.threads > 1 && teams.size() < lanes)
    teams.push_back(std::make_shared<kernels::Team>(options.threads));
  return teams;
}

/// The origin of the runtime's own promises.
class RuntimeState::Origin final : public detail::Origin {
 public:
  explicit Origin(std::shared_ptr<msg::Callbacks> callbacks) : callbacks_(std::move(callbacks)) {}
  Error error() const noexcept override { return error_; }
  void post(std::shared_ptr<Deferred> callback) const noexcept override {
    callbacks_->post(std::move(callback));
  }

 private:
  const Error error_{ErrorKind::invalid_state, "the runtime has been shut down"};
  const std::shared_ptr<msg::Callbacks> callbacks_;
};

std::shared_ptr<RuntimeState> RuntimeState::create(const RuntimeOptions& options,
                                                   BackendFactory factory) {
  if (options.scheduler_threads < 0 || options.scheduler_threads > most_threads)
    throw Error(ErrorKind::type_error, "scheduler_threads: expected 0 to " +
                                           std::to_string(most_threads) + ", got " +
                                           std::to_string(options.scheduler_threads));
  const std::shared_ptr<RuntimeState> state(new RuntimeState, end);
  state->factory_ = std::move(factory);
  start_threads([&] { state->start(options); });
  return state;
}

void RuntimeState::start(const RuntimeOptions& options) {
  const auto threads = options.scheduler_threads > 0
                           ? static_cast<std::size_t>(options.scheduler_threads)
                           : std::max<std::size_t>(2, static_cast<std::size_t>(usable_cores()) / 2);
  home_ = make_home();
  start_callbacks(options);
  make_recorder();
  obey_environment();
  const auto pool = std::make_shared<engine::ThreadPool>(threads);
  auto& config = config_.emplace(pool);
  config.set("scheduler.max-threads", threads);
  // After this many messages the next actor runs, so that a context with a backlog cannot keep a
  // thread from the others. With fewer, switching would cost more than the messages.
  config.set("scheduler.max-throughput", std::size_t{64});
  config.set("logger.verbosity", caf::atom("quiet"));
  config.add_thread_hook<MarkThreads>();
  // An executor is the user's code, and hears of callbacks on the library's own threads.
  if (options.helping && !options.executor) shared_pool_ = pool;
  home_->run([this] { system_ = &own_system_.emplace(*config_); });
}

std::unique_ptr<msg::HomeThread> RuntimeState::make_home() {
  // The state ends on this thread, after its last chore.
  return std::make_unique<msg::HomeThread>(msg::time_between_looks, [this] { look_for_idle(); });
}

void RuntimeState::look_for_idle() noexcept {
  const auto now = host_.now ? host_.now() : msg::Clock::now();
  scratch_.with([&](auto& known) {
    for (const auto& each : known)
      if (const auto scratch = each.lock())
        for (auto& lane : *scratch) lane.look(now, msg::idle_before_give_back);
  });
}

void RuntimeState::start_callbacks(const RuntimeOptions& options) {
  // A cycle: the log uses the callbacks, and the callbacks log exceptions.
  const auto log = std::make_shared<std::weak_ptr<msg::Log>>();
  callbacks_ = msg::Callbacks::start(
      options.executor, [log, told = options.on_callback_exception](const std::exception_ptr& e) {
        const auto known = log->lock();
        if (known && known->takes(LogLevel::warning))
          known->tell(LogLevel::warning, "runtime", thrown(e));
        if (told) told(e);
      });
  log_ = std::make_shared<msg::Log>(options.log, options.log_level, callbacks_);
  *log = log_;
  origin_ = std::make_shared<const Origin>(callbacks_);
}

std::shared_ptr<RuntimeState> RuntimeState::embed(caf::actor_system& system, BackendFactory factory,
                                                  Host host) {
  const std::shared_ptr<RuntimeState> state(new RuntimeState, end);
  state->system_ = &system;
  state->factory_ = std::move(factory);
  state->host_ = std::move(host);
  start_threads([&] {
    if (state->host_.detached) state->home_ = state->make_home();
    state->start_callbacks(state->host_.options);
  });
  state->make_recorder();
  return state;
}

RuntimeState::~RuntimeState() {
  own_system_.reset();
  write_for_environment();
  if (callbacks_) callbacks_->stop();
}

void RuntimeState::end(RuntimeState* state) noexcept {
  // A forked child has no threads to end, and locks may be held for ever.
  if (state->process_.forked()) return;
  // The end waits for the library's threads, so one of them must not wait for it.
  const bool wait = !msg::carries_actors() && !msg::Callbacks::on_its_thread();
  if (auto home = std::move(state->home_))
    msg::HomeThread::end(
        std::move(home), [state] { delete state; }, wait);
  else
    delete state;
}

void RuntimeState::observe(std::shared_ptr<msg::Observer> observer) {
  observe([observer = std::move(observer)](const ContextOptions&) { return observer; });
}

actors::EnvironmentRef RuntimeState::make_environment(
    const ContextOptions& options, std::shared_ptr<kernels::Backend> backend) const {
  ensure(backend != nullptr, "a context has a backend");
  const auto environment = std::make_shared<actors::Environment>(
      options.label, static_cast<std::size_t>(options.lanes),
      observer_of_
          ? observer_of_(options)
          : recorder_->observer_for(options.label, static_cast<std::size_t>(options.lanes)));
  environment->backend = std::move(backend);
  environment->registry = registry_;
  environment->callbacks = callbacks_;
  environment->log = log_;
  if (shared_pool_)
    environment->caller_runs = std::make_shared<engine::CallerRuns>(*system_, shared_pool_);
  environment->lost =
      std::make_shared<msg::LostSignal>(environment->source, callbacks_, host_.meanwhile,
                                        environment->caller_runs, environment->shared_gate);
  environment->budget = std::make_shared<msg::Budget>(options.memory_limit);
  environment->now = host_.now ? host_.now : [] { return msg::Clock::now(); };
  environment->meanwhile = host_.meanwhile;
  const auto admission = [&](std::uint64_t most, AdmissionPolicy policy, const char* what) {
    return std::make_shared<msg::Admission>(
        msg::Admission::Settings{most, policy, what, environment->now, environment->meanwhile},
        environment->lost);
  };
  environment->admission =
      admission(options.max_in_flight, options.admission, "operations in flight");
  constexpr std::uint64_t many = 1024;
  environment->queries =
      admission(options.max_in_flight, AdmissionPolicy::fail, "queries of errors pending");
  environment->questions = admission(many, AdmissionPolicy::fail, "questions pending");
  environment->scopes = admission(many, AdmissionPolicy::fail, "error scopes");
  environment->reports = admission(many, AdmissionPolicy::fail, "errors to report");
  environment->refusals = admission(1, AdmissionPolicy::fail, "refusals to report");
  environment->events = admission(many, AdmissionPolicy::fail, "errors for the handler");
  environment->counters = std::make_shared<msg::Counters>();
  environment->gate.listen(observer_of_ || recorder_->recording());
  environment->teams = make_teams(options);
  ensure(environment->teams.empty() || environment->teams.size() == environment->lanes.size(),
         "each lane has a team, or none has");
  environment->placement = placement_;
  environment->detached = host_.detached;
  return environment;
}

Context RuntimeState::spawn(const actors::EnvironmentRef& environment,
                            const ContextOptions& options) {
  context_actor actor;
  const auto work = [&] { actor = actors::spawn_context(*system_, environment); };
  if (home_)
    home_->run(work);
  else
    work();
  ensure(actor != nullptr, "a context has been spawned");
  auto port = std::make_shared<LocalPort>(environment, std::move(actor));
  budgets_.with([&](auto& budgets) {
    std::erase_if(budgets, [](const auto& budget) { return budget.expired(); });
    budgets.push_back(environment->budget);
  });
  scratch_.with([&](auto& known) {
    std::erase_if(known, [](const auto& each) { return each.expired(); });
    known.push_back(environment->scratch);
  });
  auto context = ContextHandle::wrap(std::make_shared<ContextHandle>(
      shared_from_this(), port, options.strict, is_accelerated(*environment->backend),
      !options.features.empty()));
  // Register the context before using it, so that a concurrent shutdown ends it.
  ports_.with([&](auto& ports) {
    std::erase_if(ports, [](const auto& known) { return known.expired(); });
    ports.push_back(port);
    // A recording may have begun or ended meanwhile.
    if (!observer_of_) port->listen(recorder_->recording());
  });
  if (shut_down_.with([](bool down) { return down; })) throw Error(origin_->error());
  if (log_->takes(LogLevel::info)) {
    const auto& teams = environment->teams;
    const std::size_t threads = teams.empty() ? 1 : teams.front()->size();
    environment->write_log(LogLevel::info, "created on " + environment->backend->name() + ": " +
                                               std::to_string(environment->lanes.size()) +
                                               " lanes, up to " + std::to_string(threads) +
                                               " threads for a dispatch");
  }
  return context;
}

Future<Context> RuntimeState::create_context(const ContextOptions& options) {
  const auto refuse = [&](const Error& error) {
    return rejected<Future<Context>>(error.with_operation("create_context", options.label),
                                     origin_);
  };
  if (process_.forked()) return rejected<Future<Context>>(forked_error());
  if (const auto wrong = wrong_options(options)) return refuse({ErrorKind::type_error, *wrong});
  for (const auto& feature : options.features)
    if (feature != "dynamic-dimensions")
      return refuse({ErrorKind::not_supported,
                     "there is no feature '" + feature + "', expected 'dynamic-dimensions'"});
  if (shut_down_.with([](bool down) { return down; })) return refuse(origin_->error());
  try {
    auto backend = factory_(options);
    if (!backend) return refuse(backend.error());
    const auto promise = Promise<Context>::make(origin_);
    const auto shares = with_shares(options, **backend);
    promise.resolve(spawn(make_environment(shares, std::move(*backend)), shares));
    return promise.future();
  } catch (const Error& error) {
    return refuse(error);
  } catch (const std::system_error& error) {
    return refuse({ErrorKind::out_of_memory,
                   std::string("the system refused a thread of its lanes: ") + error.what()});
  } catch (const std::bad_alloc&) {
    return refuse(out_of_memory_error());
  }
}

std::size_t RuntimeState::contexts_holding_memory() {
  return budgets_.with([](auto& budgets) {
    std::erase_if(budgets, [](const auto& budget) { return budget.expired(); });
    return budgets.size();
  });
}

std::vector<RemainingActor> RuntimeState::shutdown(std::chrono::nanoseconds patience) {
  if (process_.forked()) return {};
  shut_down_.with([](bool& down) { down = true; });
  std::vector<std::weak_ptr<LocalPort>> ports;
  ports_.with([&](auto& known) { ports.swap(known); });
  for (const auto& weak : ports)
    if (const auto port = weak.lock())
      port->end(LostReason::runtime_shutdown, "the runtime was shut down");
  // Do not wait in a simulated world, whose actors end at its next steps, or on a thread of the
  // library, which would wait for itself.
  if (!host_.detached || msg::carries_actors()) return registry_->present();
  const auto begun = msg::Clock::now();
  registry_->wait_until_empty(patience);
  auto remaining = registry_->present();
  // Then wait for pending callbacks, except inside a callback.
  if (msg::Callbacks::on_its_thread()) return remaining;
  const auto left =
      patience - std::min(patience, std::chrono::nanoseconds(msg::Clock::now() - begun));
  if (!callbacks_->wait_until_idle(left)) remaining.push_back({"callback thread", 1, "a callback"});
  return remaining;
}

}  // namespace polychron::detail
