#include "observe/stress/snapshot.hpp"

#include "runtime/handles.hpp"
#include "runtime/local_port.hpp"

namespace polychron::stress {

namespace {

/// The weight of the work that lanes were sent and have not done.
std::uint64_t load_of(const Subject& subject) {
  auto load = subject.weight;
  for (const auto& lane : subject.environment->lanes) load -= lane.done;
  return load;
}

}  // namespace

actors::EnvironmentRef environment_of(const Context& context) {
  const auto& port = *detail::ContextHandle::of(context)->port;
  return dynamic_cast<const detail::LocalPort&>(port).environment();
}

QuiescentState quiescent_state_of(const Subject& subject, Phase phase) {
  const auto& environment = *subject.environment;
  QuiescentState state{
      .phase = phase,
      .stats = subject.context.stats(),
      .lost = subject.context.lost().ready(),
      .begun = subject.created,
      .gone = subject.gone,
      .storage = subject.checks->bytes,
      .peak_storage = subject.checks->peak_allocated,
      .planned = subject.checks->planned_bytes(),
      .knows_bytes = !subject.program.has(Kind::constant) && !subject.program.may_lack_bytes(),
      .scopes = environment.scopes->in_flight(),
      .load = load_of(subject),
      .losses = subject.losses};
  for (const auto* const door : environment.admissions()) {
    if (door != environment.scopes.get()) state.places += door->in_flight();
    state.waited_for |= door->anybody_waits();
  }
  for (const auto& brought : subject.brought) state.brought += brought.expired() ? 0U : 1U;
  return state;
}

}  // namespace polychron::stress
