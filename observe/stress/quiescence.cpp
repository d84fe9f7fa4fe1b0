#include "observe/stress/quiescence.hpp"

namespace polychron::stress {

std::optional<std::string> check(const QuiescentState& state) {
  const auto& [phase, stats, lost, begun, gone, storage, peak_storage, planned, knows_bytes, places,
               scopes, waited_for, load, brought, losses, actors] = state;
  // A lease has no permit: an operation is in flight only while it has something to do.
  if (stats.in_flight != 0) return std::to_string(stats.in_flight) + " places are taken at rest";
  if (places != 0) return std::to_string(places) + " places of questions or errors are taken";
  if (waited_for) return "a caller waits for admission, but the world is at rest";
  if (!lost && load != 0) return "a load of " + std::to_string(load) + " is left on the lanes";
  if (!lost && !stats.running.empty())
    return std::string("a lane says that it is at work, on: ") + stats.running.front().operation;
  if (phase != Phase::lent && scopes != 0)
    return std::to_string(scopes) + " error scopes have places";
  if (phase != Phase::lent && brought != 0)
    return std::to_string(brought) + " things are kept that calls brought along";
  if (phase < Phase::destroyed && !lost && knows_bytes && stats.bytes != storage + planned)
    return std::to_string(stats.bytes) + " bytes are counted, and taken are " +
           std::to_string(storage + planned);
  if (phase < Phase::destroyed && (stats.bytes < storage || stats.peak_bytes < peak_storage))
    return std::to_string(stats.bytes) + " bytes are counted, " + std::to_string(stats.peak_bytes) +
           " at most; storage has " + std::to_string(storage) + ", and had " +
           std::to_string(peak_storage);
  if (phase == Phase::destroyed && !lost) {
    if (stats.tensors != 0) return std::to_string(stats.tensors) + " tensors are left";
    if (stats.graphs != 0) return std::to_string(stats.graphs) + " graphs are left";
    if (stats.bytes != 0) return std::to_string(stats.bytes) + " bytes are left";
    if (storage != 0) return "storage of " + std::to_string(storage) + " bytes is left";
    if (gone != begun)
      return "the context heard of the end of " + std::to_string(gone) + " objects, of " +
             std::to_string(begun);
  }
  if (phase == Phase::ended) {
    if (stats.bytes != 0) return std::to_string(stats.bytes) + " bytes are left at the end";
    if (storage != 0) return "storage of " + std::to_string(storage) + " bytes is left at the end";
    if (losses != 1) return "the loss was told " + std::to_string(losses) + " times";
    if (!actors.empty()) return actors.front() + " stays";
  }
  return std::nullopt;
}

}  // namespace polychron::stress
