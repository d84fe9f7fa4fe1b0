// softmax, and reduceLogSumExp over neighbouring axes, of float32. Written with Highway, which
// compiles this file once for each instruction set and chooses the processor's at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/direct/softmax.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <cmath>
#include <limits>

#include "kernels/direct/direct.hpp"
#include "kernels/elements.hpp"
#include "kernels/function_kernel.hpp"
#include "kernels/processor.hpp"
#include "ops/table.hpp"

HWY_BEFORE_NAMESPACE();
namespace polychron::kernels::direct::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// e^x. Highway's Exp returns 0 for NaN, and is undefined far above the largest x with a finite
/// result.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exponential(D d, V x) {
  const V power = hn::Exp(d, hn::Min(x, hn::Set(d, 89.0F)));
  return hn::IfThenElse(hn::IsNaN(x), x, power);
}

/// The largest of `extent` vectors, `step` floats apart. It may drop a NaN.
template <class D>
HWY_INLINE hn::Vec<D> largest(D d, const float* in, std::size_t extent, std::size_t step) {
  auto most = hn::LoadU(d, in);
  for (std::size_t i = 1; i < extent; ++i) most = hn::Max(most, hn::LoadU(d, in + i * step));
  return most;
}

/// The number to subtract so that nothing overflows; `most` is the largest number.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V shift_of(D d, V most) {
  return hn::IfThenElse(hn::IsInf(most), hn::Zero(d), most);
}

/// Computes as many columns side by side as `d` has lanes.
template <class D>
HWY_INLINE void soften(D d, const float* in, float* out, std::size_t extent, std::size_t step) {
  const auto most = largest(d, in, extent, step);
  auto sum = hn::Zero(d);
  for (std::size_t i = 0; i < extent; ++i) {
    const auto weight = exponential(d, hn::Sub(hn::LoadU(d, in + i * step), most));
    hn::StoreU(weight, d, out + i * step);
    sum = hn::Add(sum, weight);
  }
  const auto share = hn::Div(hn::Set(d, 1.0F), sum);
  for (std::size_t i = 0; i < extent; ++i)
    hn::StoreU(hn::Mul(hn::LoadU(d, out + i * step), share), d, out + i * step);
}

/// The largest number, and the sum of e^(x - shift_of(largest)), of each column.
template <class D>
HWY_INLINE void add_exponentials(D d, const float* in, std::size_t extent, std::size_t step,
                                 float* most, float* sums) {
  const auto top = largest(d, in, extent, step);
  const auto shift = shift_of(d, top);
  auto sum = hn::Zero(d);
  for (std::size_t i = 0; i < extent; ++i)
    sum = hn::Add(sum, exponential(d, hn::Sub(hn::LoadU(d, in + i * step), shift)));
  hn::StoreU(top, d, most);
  hn::StoreU(sum, d, sums);
}

/// Calls f(d, column) for all of `columns`: in whole vectors, then one by one for the tail.
template <class F>
HWY_INLINE void each_column(std::size_t columns, const F& f) {
  const hn::ScalableTag<float> wide;
  std::size_t at = 0;
  for (; at + hn::Lanes(wide) <= columns; at += hn::Lanes(wide)) f(wide, at);
  const hn::CappedTag<float, 4> few;
  for (; at + hn::Lanes(few) <= columns; at += hn::Lanes(few)) f(few, at);
  for (; at < columns; ++at) f(hn::CappedTag<float, 1>(), at);
}

void soften_columns(const float* in, float* out, std::size_t extent, std::size_t inner) {
  each_column(
      inner, [=](auto d, std::size_t at) HWY_ATTR { soften(d, in + at, out + at, extent, inner); });
}

/// A line of neighbours.
void soften_line(const float* in, float* out, std::size_t extent, std::size_t /*inner*/) {
  const hn::ScalableTag<float> d;
  const hn::CappedTag<float, 1> one;
  const std::size_t lanes = hn::Lanes(d), whole = extent / lanes * lanes;
  float top = -std::numeric_limits<float>::infinity();
  if (whole > 0) top = hn::GetLane(hn::MaxOfLanes(d, largest(d, in, extent / lanes, lanes)));
  for (std::size_t i = whole; i < extent; ++i) top = std::max(top, in[i]);
  auto sums = hn::Zero(d);
  for (std::size_t i = 0; i < whole; i += lanes) {
    const auto weight = exponential(d, hn::Sub(hn::LoadU(d, in + i), hn::Set(d, top)));
    hn::StoreU(weight, d, out + i);
    sums = hn::Add(sums, weight);
  }
  float sum = hn::GetLane(hn::SumOfLanes(d, sums));
  for (std::size_t i = whole; i < extent; ++i) {
    out[i] = hn::GetLane(exponential(one, hn::Set(one, in[i] - top)));
    sum += out[i];
  }
  const float share = 1.0F / sum;
  for (std::size_t i = 0; i < whole; i += lanes)
    hn::StoreU(hn::Mul(hn::LoadU(d, out + i), hn::Set(d, share)), d, out + i);
  for (std::size_t i = whole; i < extent; ++i) out[i] *= share;
}

float logarithm_of_sum(float most, float sum) {
  if (std::isinf(most)) return std::isnan(sum) ? sum : most;
  return most + std::log(sum);
}

void log_sum_columns(const float* in, float* out, std::size_t extent, std::size_t inner) {
  each_column(inner, [=](auto d, std::size_t at) HWY_ATTR {
    HWY_ALIGN float most[HWY_MAX_BYTES / sizeof(float)], sums[HWY_MAX_BYTES / sizeof(float)];
    add_exponentials(d, in + at, extent, inner, most, sums);
    for (std::size_t i = 0; i < hn::Lanes(d); ++i) out[at + i] = logarithm_of_sum(most[i], sums[i]);
  });
}

/// Treats a line as columns, one for each lane, and then joins the columns' results.
void log_sum_line(const float* in, float* out, std::size_t extent, std::size_t /*inner*/) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d), whole = extent / lanes;
  HWY_ALIGN float most[HWY_MAX_BYTES / sizeof(float)], sums[HWY_MAX_BYTES / sizeof(float)];
  float top = -std::numeric_limits<float>::infinity();
  if (whole > 0) {
    add_exponentials(d, in, whole, lanes, most, sums);
    for (std::size_t i = 0; i < lanes; ++i) top = std::max(top, most[i]);
  }
  for (std::size_t i = whole * lanes; i < extent; ++i) top = std::max(top, in[i]);
  const float shift = std::isinf(top) ? 0 : top;
  float sum = 0;
  for (std::size_t i = 0; whole > 0 && i < lanes; ++i)
    sum += sums[i] * std::exp((std::isinf(most[i]) ? 0 : most[i]) - shift);
  for (std::size_t i = whole * lanes; i < extent; ++i) sum += std::exp(in[i] - shift);
  *out = logarithm_of_sum(top, sum);
}

}  // namespace polychron::kernels::direct::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace polychron::kernels::direct {
namespace {

HWY_EXPORT(soften_columns);
HWY_EXPORT(soften_line);
HWY_EXPORT(log_sum_columns);
HWY_EXPORT(log_sum_line);

const float* input(const Arguments& arguments) {
  return reinterpret_cast<const float*>(arguments.inputs[0]);
}

std::optional<std::string> unsuitable(const Problem& problem) {
  if (problem.inputs[0].descriptor.data_type != DataType::float32) return "float32 only";
  return not_plain(problem);
}

KernelResult prepare_softmax(const Problem& problem) {
  if (const auto reason = unsuitable(problem)) return refuse(*reason);
  const Around seen = around(problem.inputs[0].descriptor.shape,
                             std::get<SoftmaxAttributes>(problem.attributes).axis);
  // Its loops over lines are as fast there. Those for Arm (2.6.3) make e^-88 of smaller numbers.
  if (seen.inner == 1 && vectors() == Vectors::avx512) return refuse("the last axis is oneDNN's");
  return make_kernel(
      [seen](const Arguments& arguments) {
        auto* const out = reinterpret_cast<float*>(arguments.outputs[0]);
        const auto run = seen.inner == 1 ? HWY_DYNAMIC_DISPATCH(soften_line)
                                         : HWY_DYNAMIC_DISPATCH(soften_columns);
        for (std::size_t at = 0; at < seen.outer * seen.extent * seen.inner;
             at += seen.extent * seen.inner)
          run(input(arguments) + at, out + at, seen.extent, seen.inner);
      },
      0);
}

KernelResult prepare_log_sum_exp(const Problem& problem) {
  if (const auto reason = unsuitable(problem)) return refuse(*reason);
  const auto& axes = std::get<ReduceAttributes>(problem.attributes).axes;
  const Shape& shape = problem.inputs[0].descriptor.shape;
  Around seen;
  bool begun = false, ended = false;
  for (std::uint32_t i = 0; i < shape.size(); ++i) {
    const bool goes = !axes || std::ranges::find(*axes, i) != axes->end();
    if (goes && ended && shape[i] != 1) return refuse("neighbouring axes only");
    ended = ended || (begun && !goes);
    begun = begun || goes;
    (goes ? seen.extent : ended ? seen.inner : seen.outer) *= shape[i];
  }
  return make_kernel([seen](const Arguments& arguments) {
    const float* in = input(arguments);
    auto* out = reinterpret_cast<float*>(arguments.outputs[0]);
    const auto run = seen.inner == 1 ? HWY_DYNAMIC_DISPATCH(log_sum_line)
                                     : HWY_DYNAMIC_DISPATCH(log_sum_columns);
    for (std::size_t i = 0; i < seen.outer; ++i, in += seen.extent * seen.inner, out += seen.inner)
      run(in, out, seen.extent, seen.inner);
  });
}

}  // namespace

std::span<const Entry> exponential_entries() noexcept {
  static constexpr Entry entries[] = {{ops::op("reduceLogSumExp"), prepare_log_sum_exp},
                                      {ops::op("softmax"), prepare_softmax}};
  return entries;
}

}  // namespace polychron::kernels::direct
#endif
