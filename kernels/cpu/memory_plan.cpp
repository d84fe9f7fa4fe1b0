#include "kernels/cpu/memory_plan.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/invariant.hpp"

namespace polychron::kernels {
namespace {

/// The start of the smallest gap of at least `bytes` between `placed` (ordered by offset), or their
/// end.
std::size_t best_gap(const std::vector<std::pair<std::size_t, std::size_t>>& placed,
                     std::size_t bytes) {
  std::size_t end = 0, best = 0, best_size = std::numeric_limits<std::size_t>::max();
  for (const auto& [offset, size] : placed) {
    if (offset >= end + bytes && offset - end < best_size) {
      best = end;
      best_size = offset - end;
    }
    end = std::max(end, offset + size);
  }
  return best_size == std::numeric_limits<std::size_t>::max() ? end : best;
}

}  // namespace

MemoryPlan plan_memory(std::span<const Lifetime> lifetimes) {
  std::vector<std::size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return lifetimes[a].bytes > lifetimes[b].bytes;
  });
  MemoryPlan plan;
  plan.offsets.resize(lifetimes.size());
  std::vector<std::size_t> done;
  std::vector<std::pair<std::size_t, std::size_t>> neighbours;
  for (const std::size_t i : order) {
    const Lifetime& own = lifetimes[i];
    if (own.bytes == 0) continue;
    ensure(own.first <= own.last, "a buffer is written before its last reader");
    neighbours.clear();
    for (const std::size_t k : done)
      if (lifetimes[k].first <= own.last && own.first <= lifetimes[k].last)
        neighbours.emplace_back(plan.offsets[k], aligned(lifetimes[k].bytes));
    std::sort(neighbours.begin(), neighbours.end());
    plan.offsets[i] = best_gap(neighbours, aligned(own.bytes));
    ensure(plan.offsets[i] % Buffer::alignment == 0, "every buffer begins on an aligned address");
    plan.bytes = std::max(plan.bytes, plan.offsets[i] + aligned(own.bytes));
    done.push_back(i);
  }
  return plan;
}

}  // namespace polychron::kernels
