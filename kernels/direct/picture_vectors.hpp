// Vectors of pictures in blocks of channels. Included once for each of Highway's targets.
#if defined(POLYCHRON_PICTURE_VECTORS) == defined(HWY_TARGET_TOGGLE)
#ifdef POLYCHRON_PICTURE_VECTORS
#undef POLYCHRON_PICTURE_VECTORS
#else
#define POLYCHRON_PICTURE_VECTORS
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>

#include "kernels/direct/some_lanes.hpp"
#include "kernels/vectors.hpp"

// Where has_fused_vectors() is true. Loops of convolutions are for these targets only: pictures of
// others are plain.
#undef POLYCHRON_FUSED_TARGET
#if HWY_ARCH_ARM_A64 || HWY_TARGET <= HWY_AVX2
#define POLYCHRON_FUSED_TARGET 1
#else
#define POLYCHRON_FUSED_TARGET 0
#endif

HWY_BEFORE_NAMESPACE();
namespace polychron::kernels::direct::HWY_NAMESPACE {

constexpr bool has_wide_blocks = !HWY_ARCH_ARM_A64 && HWY_TARGET <= HWY_AVX3;
/// Floats of a pixel in a block, as in picture_layout(). NEON computes them in two vectors.
constexpr std::size_t block_floats = has_wide_blocks ? 16 : 8;
constexpr bool has_32_registers = HWY_ARCH_ARM_A64 || has_wide_blocks;

using Real = hn::CappedTag<float, block_floats>;
using Reals = hn::Vec<Real>;
constexpr std::size_t lanes = hn::MaxLanes(Real());
constexpr std::size_t vectors_of_block = block_floats / lanes;

/// Bounds of results. NaN stays; channels of padding become 0.
class Bounds {
 public:
  HWY_INLINE Bounds(float lowest, float highest, std::size_t channels)
      : lowest_(hn::Set(Real(), lowest)),
        highest_(hn::Set(Real(), highest)),
        present_(hn::FirstN(Real(), std::min(channels, lanes))) {}

  HWY_INLINE Reals of(Reals sum) const {
    return hn::IfThenElseZero(present_, bounded(sum, lowest_, highest_));
  }

 private:
  const Reals lowest_, highest_;
  const hn::Mask<Real> present_;
};

}  // namespace polychron::kernels::direct::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
