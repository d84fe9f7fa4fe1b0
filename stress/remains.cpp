#include "stress/remains.hpp"

namespace polychron::stress {

std::optional<std::string> check(const Remains& remains) {
  const auto& [rest, stats, lost, begun, gone, storage, peak_storage, actors] = remains;
  // Whoever has a lease has no place: an operation in flight is one that has something to do.
  if (stats.in_flight != 0) return std::to_string(stats.in_flight) + " places are taken at rest";
  if (rest == Rest::answered && (stats.bytes < storage || stats.peak_bytes < peak_storage))
    return std::to_string(stats.bytes) + " bytes are counted, " + std::to_string(stats.peak_bytes) +
           " at most; storage has " + std::to_string(storage) + ", and had " +
           std::to_string(peak_storage);
  if (rest == Rest::destroyed && !lost) {
    if (stats.tensors != 0) return std::to_string(stats.tensors) + " tensors are left";
    if (stats.graphs != 0) return std::to_string(stats.graphs) + " graphs are left";
    if (stats.bytes != 0) return std::to_string(stats.bytes) + " bytes are left";
    if (storage != 0) return "storage of " + std::to_string(storage) + " bytes is left";
    if (gone != begun)
      return "the context heard of the end of " + std::to_string(gone) + " objects, of " +
             std::to_string(begun);
  }
  if (rest == Rest::ended) {
    if (stats.bytes != 0) return std::to_string(stats.bytes) + " bytes are left at the end";
    if (storage != 0) return "storage of " + std::to_string(storage) + " bytes is left at the end";
    if (!actors.empty()) return actors.front() + " stays";
  }
  return std::nullopt;
}

}  // namespace polychron::stress
