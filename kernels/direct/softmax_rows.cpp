// Written with Highway, which compiles this file once for each instruction set and chooses the
// processor's at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/direct/softmax_rows.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <hwy/highway.h>

#include <limits>
#include <numbers>

#include "kernels/direct/softmax_rows.hpp"
#include "kernels/direct/some_lanes.hpp"
#include "kernels/vectors.hpp"

HWY_BEFORE_NAMESPACE();
namespace polychron::kernels::direct::HWY_NAMESPACE {

using Real = hn::ScalableTag<float>;
using Reals = hn::Vec<Real>;

/// e^x of numbers that are at most 0, with an error below 2 units in the last place. NaN stays.
/// Below -73, where e^x is 2e-32, the result is 0. Such a weight adds nothing to a softmax, and
/// subnormal products would be slow on some processors. Computed as 2^n times Taylor's polynomial
/// of the seventh degree in the rest r, |r| <= ln(2) / 2; the next power is 6e-9.
HWY_INLINE Reals exponential_below_one(Reals x) {
  constexpr float lowest = -73;
  constexpr float ln2_high = 0x1.62ep-1F;  // so few bits that n times it is exact
  constexpr auto ln2_low = static_cast<float>(std::numbers::ln2 - double{ln2_high});
  const Real d;
  const auto n = hn::Round(hn::Mul(x, hn::Set(d, std::numbers::log2e_v<float>)));
  auto r = hn::NegMulAdd(n, hn::Set(d, ln2_high), x);
  r = hn::NegMulAdd(n, hn::Set(d, ln2_low), r);
  constexpr float factors[] = {1.0F / 720, 1.0F / 120, 1.0F / 24, 1.0F / 6, 1.0F / 2, 1, 1};
  auto power = hn::Set(d, 1.0F / 5040);
  POLYCHRON_UNROLLED_LOOP
  for (const float factor : factors) power = hn::MulAdd(power, r, hn::Set(d, factor));
  const hn::RebindToSigned<Real> whole;
  const auto exponent = hn::Add(hn::ConvertTo(whole, n), hn::Set(whole, 127));
  const auto scale = hn::BitCast(d, hn::ShiftLeft<23>(exponent));
  return hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, lowest)), hn::Mul(power, scale));
}

/// Returns the largest number of the row.
HWY_INLINE float scale_and_mask(float* row, std::size_t count, float scale, const float* mask,
                                bool each_key) {
  const Real d;
  const auto factor = hn::Set(d, scale);
  const auto for_all = hn::Set(d, mask == nullptr || each_key ? 0.0F : *mask);
  const auto least = hn::Set(d, -std::numeric_limits<float>::infinity());
  const bool masked = mask != nullptr && each_key;
  auto largest = least;
  for (std::size_t at = 0; at < count; at += hn::Lanes(d)) {
    const std::size_t rest = count - at;
    const auto added = masked ? load_some(d, mask + at, rest) : for_all;
    const auto score = hn::MulAdd(load_some(d, row + at, rest), factor, added);
    store_some(score, d, row + at, rest);
    largest = hn::Max(
        largest, rest < hn::Lanes(d) ? hn::IfThenElse(hn::FirstN(d, rest), score, least) : score);
  }
  return hn::GetLane(hn::MaxOfLanes(d, largest));
}

HWY_INLINE void soften(float* row, std::size_t count, float largest) {
  const Real d;
  const auto most = hn::Set(d, largest);
  auto sum = hn::Zero(d);
  for (std::size_t at = 0; at < count; at += hn::Lanes(d)) {
    const std::size_t rest = count - at;
    auto weight = exponential_below_one(hn::Sub(load_some(d, row + at, rest), most));
    if (rest < hn::Lanes(d)) weight = hn::IfThenElseZero(hn::FirstN(d, rest), weight);
    store_some(weight, d, row + at, rest);
    sum = hn::Add(sum, weight);
  }
  const auto share = hn::Set(d, 1 / hn::GetLane(hn::SumOfLanes(d, sum)));
  for (std::size_t at = 0; at < count; at += hn::Lanes(d))
    store_some(hn::Mul(load_some(d, row + at, count - at), share), d, row + at, count - at);
}

void soften_all_rows(float* scores, std::size_t step, std::size_t rows, std::size_t count,
                     float scale, const Mask& mask) {
  for (std::size_t r = 0; r < rows; ++r) {
    const float* const of_row =
        mask.numbers == nullptr ? nullptr : mask.numbers + r * mask.row_step;
    float* const row = scores + r * step;
    soften(row, count, scale_and_mask(row, count, scale, of_row, mask.each_key));
  }
}

}  // namespace polychron::kernels::direct::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace polychron::kernels::direct {
namespace {

HWY_EXPORT(soften_all_rows);

}  // namespace

void soften_rows(float* scores, std::size_t step, std::size_t rows, std::size_t count, float scale,
                 const Mask& mask) {
  HWY_DYNAMIC_DISPATCH(soften_all_rows)(scores, step, rows, count, scale, mask);
}

}  // namespace polychron::kernels::direct
#endif
