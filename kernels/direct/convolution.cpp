// Convolutions in vectors of AVX-512, where the compiler makes these.
#include "kernels/direct/direct.hpp"
#include "kernels/direct/wide.hpp"
#include "ops/table.hpp"

namespace polychron::kernels::direct {

#ifdef POLYCHRON_WIDE

namespace {

}  // namespace

std::span<const Entry> convolution_entries() noexcept {
  static constexpr Entry entries[] = {{ops::op("conv2d"), prepare_depthwise},
                                      {ops::op("conv2d"), prepare_minimal_filtering},
                                      {ops::op("conv2d"), prepare_panels}};
  return entries;
}

#else

std::span<const Entry> convolution_entries() noexcept { return {}; }

#endif

}  // namespace polychron::kernels::direct
