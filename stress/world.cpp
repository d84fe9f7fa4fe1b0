#include "stress/world.hpp"

#include <algorithm>

#include "stress/symbolic_backend.hpp"

namespace polychron::stress {

namespace {

caf::actor_system_config& driven(caf::actor_system_config& config) {
  config.set("scheduler.policy", caf::atom("testing"));
  config.set("logger.verbosity", caf::atom("quiet"));
  return config;
}

Result<std::shared_ptr<kernels::Backend>> symbolic(const ContextOptions&) {
  return std::shared_ptr<kernels::Backend>(std::make_shared<SymbolicBackend>());
}

}  // namespace

World::World(Strategy& strategy, detail::BackendFactory factory)
    : strategy_(strategy),
      system_(driven(config_)),
      scheduler_(dynamic_cast<caf::scheduler::test_coordinator&>(system_.scheduler())),
      state_(detail::RuntimeState::embed(system_, factory ? std::move(factory) : symbolic,
                                         {.detached = false,
                                          .now = [clock = clock_] { return *clock; },
                                          .meanwhile = [this] { return step(); },
                                          .options = {.scheduler_threads = 0,
                                                      .executor =
                                                          [this](std::function<void()> callback) {
                                                            callbacks_.push_back(
                                                                std::move(callback));
                                                          },
                                                      .on_callback_exception = {}}})),
      runtime_(std::make_unique<Runtime>(state_)) {}

World::~World() {
  runtime_.reset();
  state_.reset();
  run();
}

bool World::step() {
  auto& jobs = scheduler_.jobs;
  runnables_.clear();
  for (auto* const job : jobs) runnables_.emplace_back(*job);
  if (!callbacks_.empty()) runnables_.emplace_back();
  if (runnables_.empty()) return false;
  const auto pick = strategy_.pick(runnables_);
  schedule_.push_back(static_cast<std::uint32_t>(pick));
  if (pick == jobs.size()) {
    const auto callback = std::move(callbacks_.front());
    callbacks_.pop_front();
    callback();
    return true;
  }
  const auto chosen = jobs.begin() + static_cast<std::ptrdiff_t>(pick);
  std::rotate(jobs.begin(), chosen, chosen + 1);
  scheduler_.try_run_once();
  return true;
}

}  // namespace polychron::stress
