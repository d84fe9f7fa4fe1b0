// Vectors of which memory holds only some lanes. Included once for each of Highway's targets.
#if defined(POLYCHRON_SOME_LANES) == defined(HWY_TARGET_TOGGLE)
#ifdef POLYCHRON_SOME_LANES
#undef POLYCHRON_SOME_LANES
#else
#define POLYCHRON_SOME_LANES
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace polychron::kernels::direct::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The first `count` lanes, zeros behind them. Reads nothing behind them.
template <class D>
HWY_INLINE hn::Vec<D> load_some(D d, const float* from, std::size_t count) {
  if (count >= hn::Lanes(d)) return hn::LoadU(d, from);
  HWY_ALIGN float some[hn::MaxLanes(d)] = {};
  std::copy_n(from, count, some);
  return hn::Load(d, some);
}

/// Stores the first `count` lanes.
template <class D>
HWY_INLINE void store_some(hn::Vec<D> value, D d, float* to, std::size_t count) {
  if (count >= hn::Lanes(d)) return hn::StoreU(value, d, to);
  HWY_ALIGN float some[hn::MaxLanes(d)];
  hn::Store(value, d, some);
  std::copy_n(some, count, to);
}

/// `x`, but at least `lowest` and at most `highest`. NaN stays.
template <class V>
HWY_INLINE V bounded(V x, V lowest, V highest) {
#if HWY_ARCH_ARM_A64  // where Min and Max of NaN and a number are the number
  x = hn::IfThenElse(hn::Lt(x, lowest), lowest, x);
  return hn::IfThenElse(hn::Gt(x, highest), highest, x);
#else
  return hn::Min(highest, hn::Max(lowest, x));  // in this order
#endif
}

}  // namespace polychron::kernels::direct::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
