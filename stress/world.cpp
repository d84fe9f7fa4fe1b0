#include "stress/world.hpp"

#include <algorithm>

#include "stress/symbolic_backend.hpp"

namespace polychron::stress {

std::size_t ExhaustiveStrategy::pick(std::size_t n) {
  if (n == 1) return 0;
  if (at_ == path_.size()) path_.push_back({0, n});
  return path_[at_++].value;
}

bool ExhaustiveStrategy::next() {
  at_ = 0;
  while (!path_.empty() && ++path_.back().value == path_.back().bound) path_.pop_back();
  return !path_.empty();
}

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
      state_(detail::RuntimeState::embed(system_, factory ? std::move(factory) : symbolic, false,
                                         [clock = clock_] { return *clock; })),
      runtime_(std::make_unique<Runtime>(state_)) {}

World::~World() {
  runtime_.reset();
  state_.reset();
  run();
}

bool World::step() {
  auto& jobs = scheduler_.jobs;
  if (jobs.empty()) return false;
  const auto chosen = jobs.begin() + static_cast<std::ptrdiff_t>(strategy_.pick(jobs.size()));
  std::rotate(jobs.begin(), chosen, chosen + 1);
  scheduler_.try_run_once();
  ++steps_;
  return true;
}

}  // namespace polychron::stress
