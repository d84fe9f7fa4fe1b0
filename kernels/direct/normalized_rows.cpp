// Written with Highway, which compiles this file once for each instruction set and chooses the
// processor's at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/direct/normalized_rows.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <hwy/highway.h>

#include <cmath>

#include "kernels/direct/normalized_rows.hpp"
#include "kernels/direct/some_lanes.hpp"

HWY_BEFORE_NAMESPACE();
namespace polychron::kernels::direct::HWY_NAMESPACE {

using Real = hn::ScalableTag<float>;
using Reals = hn::Vec<Real>;

/// The mean of f(x) of a row. Four sums, as each addition waits for the one before.
template <class F>
HWY_INLINE float mean_of(const float* in, std::size_t count, const F& f) {
  const Real d;
  const std::size_t lanes = hn::Lanes(d);
  auto a = hn::Zero(d), b = hn::Zero(d), c = hn::Zero(d), e = hn::Zero(d);
  std::size_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    a = hn::Add(a, f(hn::LoadU(d, in + i)));
    b = hn::Add(b, f(hn::LoadU(d, in + i + lanes)));
    c = hn::Add(c, f(hn::LoadU(d, in + i + 2 * lanes)));
    e = hn::Add(e, f(hn::LoadU(d, in + i + 3 * lanes)));
  }
  for (; i + lanes <= count; i += lanes) a = hn::Add(a, f(hn::LoadU(d, in + i)));
  if (i < count)
    b = hn::Add(b,
                hn::IfThenElseZero(hn::FirstN(d, count - i), f(load_some(d, in + i, count - i))));
  const auto sum = hn::SumOfLanes(d, hn::Add(hn::Add(a, b), hn::Add(c, e)));
  return hn::GetLane(sum) / static_cast<float>(count);
}

std::size_t normalize_all_rows(const NormalizedRows& o, const float* in, float* out) {
  const Real d;
  for (std::size_t row = 0; row < o.rows; ++row, in += o.count, out += o.count) {
    const auto mean = o.centred
                          ? hn::Set(d, mean_of(in, o.count, [](Reals x) HWY_ATTR { return x; }))
                          : hn::Zero(d);
    const float variance = mean_of(in, o.count, [mean](Reals x) HWY_ATTR {
      const auto off = hn::Sub(x, mean);
      return hn::Mul(off, off);
    });
    if (!std::isfinite(variance)) return row;
    const auto factor = hn::Set(d, 1 / std::sqrt(variance + o.epsilon));
    for (std::size_t i = 0; i < o.count; i += hn::Lanes(d)) {
      const std::size_t rest = o.count - i;
      auto y = hn::Mul(hn::Sub(load_some(d, in + i, rest), mean), factor);
      if (o.scales != nullptr) y = hn::Mul(y, load_some(d, o.scales + i, rest));
      if (o.biases != nullptr) y = hn::Add(y, load_some(d, o.biases + i, rest));
      store_some(y, d, out + i, rest);
    }
  }
  return o.rows;
}

}  // namespace polychron::kernels::direct::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace polychron::kernels::direct {
namespace {

HWY_EXPORT(normalize_all_rows);

}  // namespace

std::size_t normalize_rows(const NormalizedRows& rows, const float* in, float* out) {
  return HWY_DYNAMIC_DISPATCH(normalize_all_rows)(rows, in, out);
}

}  // namespace polychron::kernels::direct
#endif
