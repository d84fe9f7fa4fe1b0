// The table of what looks along an axis.
#include "kernels/direct/direct.hpp"
#include "ops/table.hpp"

namespace polychron::kernels::direct {
std::span<const Entry> reduction_entries() noexcept {
  static constexpr Entry entries[] = {{ops::op("argMin"), prepare_arg_min_max},
                                      {ops::op("argMax"), prepare_arg_min_max},
                                      {ops::op("cumulativeSum"), prepare_cumulative_sum}};
  return entries;
}

}  // namespace polychron::kernels::direct
