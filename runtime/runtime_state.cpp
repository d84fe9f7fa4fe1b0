#include "runtime/runtime_state.hpp"

#include <algorithm>
#include <thread>

#include "runtime/handles.hpp"

namespace polychron::detail {

namespace {

thread_local bool library_thread = false;

struct MarkThreads : caf::thread_hook {
  void init(caf::actor_system&) override {}
  void thread_started() override { library_thread = true; }
  void thread_terminates() override {}
};

bool on_library_thread() { return library_thread || CallbackScope::active(); }

std::optional<std::string> wrong_options(const ContextOptions& options) {
  if (options.threads < 1)
    return "a context needs at least one thread, got " + std::to_string(options.threads);
  if (options.lanes < 1 || options.lanes > 256)
    return "a context has 1 to 256 lanes, got " + std::to_string(options.lanes);
  if (options.max_in_flight < 1) return "max_in_flight must be at least 1";
  return std::nullopt;
}

/// Runs `work` on a thread that lives no longer, and waits for it.
///
/// That is how an actor system of our own is made and ended, and how actors are spawned from
/// outside. CAF leaves a reference to the system's logger in the thread-local storage of each
/// thread that does one of these; ending a system waits until all of them are gone (for ever, if
/// such a thread lives on), and must not use one whose thread has dropped it (as the main thread
/// has when static variables go).
template <class F>
void on_a_short_thread(F work) {
  std::exception_ptr thrown;
  std::thread([&] {
    try {
      work();
    } catch (...) {
      thrown = std::current_exception();
    }
  }).join();
  if (thrown) std::rethrow_exception(thrown);
}

void end(RuntimeState* state) {
  if (on_library_thread())
    std::thread([state] { delete state; }).detach();  // this thread is one of those that end
  else
    on_a_short_thread([state] { delete state; });
}

}  // namespace

std::shared_ptr<RuntimeState> RuntimeState::create(const RuntimeOptions& options,
                                                   BackendFactory factory) {
  const std::shared_ptr<RuntimeState> state(new RuntimeState, end);
  const auto cores = std::max(1U, std::thread::hardware_concurrency());
  const auto threads = options.scheduler_threads > 0
                           ? static_cast<std::size_t>(options.scheduler_threads)
                           : std::max<std::size_t>(2, cores / 2);
  auto& config = state->config_.emplace();
  // Measured: with "stealing" a message to a sleeping worker costs ten times as much (caf-notes).
  config.set("scheduler.policy", caf::atom("sharing"));
  config.set("scheduler.max-threads", threads);
  config.set("logger.verbosity", caf::atom("quiet"));
  config.add_thread_hook<MarkThreads>();
  on_a_short_thread([&] { state->system_ = &state->own_system_.emplace(config); });
  state->factory_ = std::move(factory);
  return state;
}

std::shared_ptr<RuntimeState> RuntimeState::embed(caf::actor_system& system, BackendFactory factory,
                                                  bool detached, msg::Now now) {
  const std::shared_ptr<RuntimeState> state(new RuntimeState);
  state->system_ = &system;
  state->factory_ = std::move(factory);
  state->detached_ = detached;
  if (now) state->now_ = std::move(now);
  state->driven_ = !detached;
  return state;
}

Future<Context> RuntimeState::create_context(const ContextOptions& options) {
  const auto promise = Promise<Context>::make();
  auto future = promise.future();
  if (const auto wrong = wrong_options(options)) {
    promise.reject(Error(ErrorKind::type_error, *wrong).with_operation("create_context"));
    return future;
  }
  auto backend = factory_(options);
  if (!backend) {
    promise.reject(backend.error().with_operation("create_context", options.label));
    return future;
  }
  const auto environment =
      std::make_shared<actors::Environment>(options.label, static_cast<std::size_t>(options.lanes));
  environment->backend = std::move(*backend);
  environment->census = census_;
  environment->lost = std::make_shared<actors::LostSignal>(
      options.label.empty() ? "context" : "context '" + options.label + "'");
  environment->budget = std::make_shared<msg::Budget>(options.memory_limit);
  environment->admission =
      std::make_shared<actors::Admission>(options.max_in_flight, options.admission);
  environment->counters = std::make_shared<actors::Counters>();
  environment->now = now_;
  environment->threads = options.threads;
  environment->detached = detached_;

  const std::lock_guard lock(mutex_);
  if (shut_down_) {
    promise.reject(Error(ErrorKind::invalid_state, "the runtime has been shut down"));
    return future;
  }
  context_actor actor;
  const auto spawn = [&] {
    actor = actors::spawn_in<actors::ContextState>(*system_, environment, {});
  };
  if (driven_)
    spawn();
  else
    on_a_short_thread(spawn);
  auto handle = std::make_shared<ContextHandle>(shared_from_this(), environment, std::move(actor));
  std::erase_if(contexts_, [](const auto& context) { return context.expired(); });
  contexts_.push_back(handle);
  std::erase_if(budgets_, [](const auto& budget) { return budget.expired(); });
  budgets_.push_back(environment->budget);
  promise.resolve(ContextHandle::wrap(std::move(handle)));
  return future;
}

std::size_t RuntimeState::contexts_holding_memory() {
  const std::lock_guard lock(mutex_);
  std::erase_if(budgets_, [](const auto& budget) { return budget.expired(); });
  return budgets_.size();
}

std::vector<RemainingActor> RuntimeState::shutdown(std::chrono::nanoseconds patience) {
  std::vector<std::weak_ptr<ContextHandle>> contexts;
  {
    const std::lock_guard lock(mutex_);
    shut_down_ = true;
    contexts.swap(contexts_);
  }
  for (const auto& weak : contexts) {
    const auto context = weak.lock();
    if (!context) continue;
    context->environment->lost->resolve(
        {LostReason::runtime_shutdown, "the runtime was shut down"});
    context->environment->admission->close();
    context->send(msg::destroy_context{});
  }
  if (!on_library_thread() && !driven_) census_->wait_until_empty(patience);
  return census_->present();
}

}  // namespace polychron::detail
