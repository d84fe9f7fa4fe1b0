// The table of data movement.
#include "kernels/direct/direct.hpp"

namespace polychron::kernels::direct {
std::span<const Entry> movement_entries() noexcept {
  static constexpr Entry entries[] = {{ops::op("concat"), prepare_concat},
                                      {op_depth_to_space, prepare_depth_to_space},
                                      {ops::op("reverse"), prepare_reverse},
                                      {ops::op("tile"), prepare_tile},
                                      {ops::op("triangular"), prepare_triangular}};
  return entries;
}

}  // namespace polychron::kernels::direct
