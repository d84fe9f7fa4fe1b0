#include "stress/look.hpp"

#include "runtime/handles.hpp"
#include "runtime/local_port.hpp"

namespace polychron::stress {

namespace {

/// The weight of the work that lanes were sent and have not done.
std::uint64_t load_of(const Board& board) {
  auto load = board.weight;
  for (const auto& lane : board.environment->lanes) load -= lane.done;
  return load;
}

}  // namespace

actors::EnvironmentRef environment_of(const Context& context) {
  const auto& port = *detail::ContextHandle::of(context)->port;
  return dynamic_cast<const detail::LocalPort&>(port).environment();
}

Remains remains_of(const Board& board, Rest rest) {
  const auto& environment = *board.environment;
  Remains remains{
      .rest = rest,
      .stats = board.context.stats(),
      .lost = board.context.lost().ready(),
      .begun = board.created,
      .gone = board.gone,
      .storage = board.checks->bytes,
      .peak_storage = board.checks->peak_allocated,
      .planned = board.checks->planned,
      .knows_bytes = !board.program.has(Kind::constant) && !board.program.may_lack_bytes(),
      .scopes = environment.scopes->in_flight(),
      .load = load_of(board),
      .losses = board.losses};
  for (const auto* const door : environment.admissions()) {
    if (door != environment.scopes.get()) remains.places += door->in_flight();
    remains.waited_for |= door->anybody_waits();
  }
  for (const auto& brought : board.brought) remains.brought += brought.expired() ? 0U : 1U;
  return remains;
}

}  // namespace polychron::stress
