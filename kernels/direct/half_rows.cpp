// From AVX2 on processors have instructions for casts of float16. Written with Highway, which
// compiles this file once for each instruction set and chooses the processor's at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/direct/half_rows.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <hwy/highway.h>

#include <algorithm>

#include "kernels/direct/half_rows.hpp"

HWY_BEFORE_NAMESPACE();
namespace polychron::kernels::direct::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL

using Real = hn::ScalableTag<float>;
using Halves = hn::Rebind<hwy::float16_t, Real>;

HWY_INLINE void widen(const float16* from, float* to) {
  const auto* const halves = reinterpret_cast<const hwy::float16_t*>(from);
  hn::StoreU(hn::PromoteTo(Real(), hn::LoadU(Halves(), halves)), Real(), to);
}
HWY_INLINE void narrow(const float* from, float16* to) {
  const auto halves = hn::DemoteTo(Halves(), hn::LoadU(Real(), from));
  hn::StoreU(halves, Halves(), reinterpret_cast<hwy::float16_t*>(to));
}

/// The last elements take the same instructions in memory of their own, so that a NaN keeps the
/// same bits wherever it stands.
template <class From, class To, class F>
HWY_INLINE void each_vector(const From* from, To* to, std::size_t count, const F& cast) {
  constexpr std::size_t lanes = hn::MaxLanes(Real());
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) cast(from + i, to + i);
  if (i == count) return;
  From some[lanes] = {};
  To results[lanes];
  std::copy_n(from + i, count - i, some);
  cast(some, results);
  std::copy_n(results, count - i, to + i);
}

void widen_all(const float16* from, float* to, std::size_t count) {
  each_vector(from, to, count, [](auto a, auto b) HWY_ATTR { widen(a, b); });
}
void narrow_all(const float* from, float16* to, std::size_t count) {
  each_vector(from, to, count, [](auto a, auto b) HWY_ATTR { narrow(a, b); });
}

#else

void widen_all(const float16* from, float* to, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<float>(from[i]);
}
void narrow_all(const float* from, float16* to, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) to[i] = float16(from[i]);
}

#endif

}  // namespace polychron::kernels::direct::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace polychron::kernels::direct {
namespace {

HWY_EXPORT(widen_all);
HWY_EXPORT(narrow_all);

}  // namespace

void widen_halves(const float16* from, float* to, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(widen_all)(from, to, count);
}
void narrow_floats(const float* from, float16* to, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(narrow_all)(from, to, count);
}

}  // namespace polychron::kernels::direct
#endif
