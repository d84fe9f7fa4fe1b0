#include "observe/stress/world.hpp"

#include <algorithm>

#include "observe/stress/footprints.hpp"
#include "observe/stress/symbolic_backend.hpp"

namespace polychron::stress {

namespace {

caf::actor_system_config& driven(caf::actor_system_config& config) {
  config.set("scheduler.policy", caf::atom("testing"));
  config.set("logger.verbosity", caf::atom("quiet"));
  return config;
}

Result<std::shared_ptr<kernels::Backend>> symbolic_factory(const ContextOptions&) {
  return std::shared_ptr<kernels::Backend>(std::make_shared<SymbolicBackend>());
}

}  // namespace

struct Stage::System {
  caf::actor_system_config config;
  caf::actor_system system{driven(config)};
};

Stage::Stage() = default;
Stage::~Stage() = default;

World::World(Strategy& strategy, detail::BackendFactory factory, Stage* stage)
    : strategy_(strategy),
      stage_(stage != nullptr ? *stage : own_stage_),
      system_(
          (stage_.system_ ? stage_.system_ : (stage_.system_ = std::make_unique<Stage::System>()))
              ->system),
      scheduler_(dynamic_cast<caf::scheduler::test_coordinator&>(system_.scheduler())),
      first_id_(system_.latest_actor_id()),
      state_(
          detail::RuntimeState::embed(system_, factory ? std::move(factory) : symbolic_factory,
                                      {.detached = false,
                                       .now = [clock = clock_] { return *clock; },
                                       .meanwhile = [this] { return step(); },
                                       .options = {.scheduler_threads = 0,
                                                   .executor =
                                                       [this](std::function<void()> callback) {
                                                         if (auto* const f = strategy_.footprints())
                                                           f->sent(callbacks_name);
                                                         callbacks_.push_back(std::move(callback));
                                                       },
                                                   .on_callback_exception = {}}})),
      runtime_(std::make_unique<Runtime>(state_)) {}

World::~World() {
  const auto registry = state_->share_registry();
  runtime_.reset();
  state_.reset();
  run();
  // A test may be about an actor that stays. The system would wait for it for ever.
  if (!exhausted() && registry->present().empty()) return;
  system_.await_actors_before_shutdown(false);
  stage_.system_.reset();
}

std::optional<std::size_t> World::client_at_work() const {
  if (running_.empty() || !running_.back().is_client() || running_.back().id() >= first_device)
    return std::nullopt;
  return static_cast<std::size_t>(running_.back().id());
}

void World::collect() {
  runnables_.clear();
  for (auto* const job : scheduler_.jobs) runnables_.emplace_back(*job, first_id_);
  for (std::size_t i = 0; i < devices_.size(); ++i)
    if (devices_[i]->ready()) runnables_.emplace_back(first_device + i);
  const auto is_actor = [](const Runnable& runnable) {
    return !runnable.is_client() && !runnable.is_callbacks();
  };
  if (spares_actors_ && std::ranges::any_of(running_, is_actor)) return;
  // A client that may have to wait must not block the actor whose step this is.
  const bool outside = running_.empty() || !clients_block_;
  if (!callbacks_.empty() && outside && !callbacks_held_) runnables_.emplace_back();
  if (!outside) return;
  for (std::size_t i = 0; i < clients_.size(); ++i) {
    const auto at_work = [&](const Runnable& runnable) {
      return runnable.name() == first_client + i;
    };
    if (clients_[i]->ready() && std::ranges::none_of(running_, at_work)) runnables_.emplace_back(i);
  }
}

bool World::step() {
  if (interrupted_by_) std::rethrow_exception(std::exchange(interrupted_by_, nullptr));
  collect();
  if (runnables_.empty() || exhausted()) return false;
  const auto pick = strategy_.choose(runnables_);
  if (!pick) return false;
  schedule_.push_back(static_cast<std::uint32_t>(*pick));
  go(*pick);
  return true;
}

void World::interrupt() noexcept {
  constexpr std::size_t deepest = 3;
  if (!interrupts_ || exhausted() || running_.empty() || running_.size() > deepest ||
      interrupted_by_)
    return;
  try {
    collect();
    if (runnables_.empty()) return;
    const auto pick = strategy_.interrupt(running_.back(), runnables_);
    schedule_.push_back(pick ? static_cast<std::uint32_t>(*pick + 1) : 0);
    if (!pick) return;
    // To whom it comes between, this is another thread.
    const auto time = msg::logical_clock();
    go(*pick);
    msg::logical_clock() = time;
  } catch (...) {
    interrupted_by_ = std::current_exception();
  }
}

void World::go(std::size_t pick) {
  struct Running {
    explicit Running(std::vector<Runnable>& all, const Runnable& runnable)
        : all_(all), name_(runnable.name()) {
      all_.push_back(runnable);
    }
    // The last, unless several threads take turns to drive the world.
    ~Running() { all_.erase(std::ranges::find(all_, name_, &Runnable::name)); }
    std::vector<Runnable>& all_;
    const Name name_;
  };
  const Running running(running_, runnables_[pick]);
  auto* const footprints = strategy_.footprints();
  const auto who = runnables_[pick];
  if (footprints) footprints->begin(who.name());
  auto& jobs = scheduler_.jobs;
  if (pick < jobs.size()) {
    const auto chosen = jobs.begin() + static_cast<std::ptrdiff_t>(pick);
    std::rotate(jobs.begin(), chosen, chosen + 1);
    scheduler_.try_run_once();
  } else if (who.is_callbacks()) {
    const auto callback = std::move(callbacks_.front());
    callbacks_.pop_front();
    if (footprints) footprints->received(callbacks_name);
    callback();
  } else if (who.id() >= first_device) {
    if (footprints) footprints->touches_all();
    devices_[static_cast<std::size_t>(who.id()) - first_device]->step();
  } else {
    clients_[static_cast<std::size_t>(who.id())]->step();
  }
}

}  // namespace polychron::stress
