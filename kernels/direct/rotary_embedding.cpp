// rotaryEmbedding of float32. Written with Highway, which compiles this file once for each
// instruction set and chooses the processor's at run time. Each product is rounded before another
// one is added to it: results have the bits of single operators.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/direct/rotary_embedding.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <hwy/highway.h>

#include "kernels/direct/direct.hpp"
#include "kernels/direct/nest.hpp"
#include "kernels/direct/rotated_row.hpp"
#include "kernels/direct/some_lanes.hpp"
#include "kernels/function_kernel.hpp"
#include "kernels/rotary_embedding.hpp"

HWY_BEFORE_NAMESPACE();
namespace polychron::kernels::direct::HWY_NAMESPACE {

using Real = hn::CappedTag<float, 16>;
using Reals = hn::Vec<Real>;

struct Turned {
  Reals first, second;
};
HWY_INLINE Turned turned(Reals a, Reals b, Reals cosine, Reals sine) {
  return {hn::Sub(hn::Mul(a, cosine), hn::Mul(b, sine)),
          hn::Add(hn::Mul(a, sine), hn::Mul(b, cosine))};
}

void rotate_halves(const RotatedRow& row, std::size_t pairs) {
  const Real d;
  for (std::size_t i = 0; i < pairs; i += hn::Lanes(d)) {
    const std::size_t rest = pairs - i;
    const auto both =
        turned(load_some(d, row.a + i, rest), load_some(d, row.b + i, rest),
               load_some(d, row.cosines + i, rest), load_some(d, row.sines + i, rest));
    store_some(both.first, d, row.result + i, rest);
    store_some(both.second, d, row.result + pairs + i, rest);
  }
}

/// The operands interleave if `together`; the result does always.
void rotate_interleaved(const RotatedRow& row, std::size_t pairs, bool together) {
  const Real d;
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= pairs; i += hn::Lanes(d)) {
    auto a = hn::Zero(d), b = hn::Zero(d);
    if (together) {
      hn::LoadInterleaved2(d, row.a + 2 * i, a, b);
    } else {
      a = hn::LoadU(d, row.a + i);
      b = hn::LoadU(d, row.b + i);
    }
    const auto both = turned(a, b, hn::LoadU(d, row.cosines + i), hn::LoadU(d, row.sines + i));
    hn::StoreInterleaved2(both.first, both.second, d, row.result + 2 * i);
  }
  for (; i < pairs; ++i) {
    const float a = row.a[together ? 2 * i : i], b = together ? row.a[2 * i + 1] : row.b[i];
    const float cosine = row.cosines[i], sine = row.sines[i];
    row.result[2 * i] = a * cosine - b * sine;
    row.result[2 * i + 1] = a * sine + b * cosine;
  }
}

void rotate(const RotatedRow& row, std::size_t pairs, bool interleaved, bool together) {
  if (interleaved) return rotate_interleaved(row, pairs, together);
  rotate_halves(row, pairs);
}

}  // namespace polychron::kernels::direct::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace polychron::kernels::direct {
namespace {

HWY_EXPORT(rotate);

}  // namespace

KernelResult prepare_rotary_embedding(const Problem& problem) {
  const auto found = rotary_embedding(problem);
  if (!found) return refuse("not a rotary embedding of plain rows of float32");
  Shape angles = problem.inputs.back().descriptor.shape;
  // Angles of a row lie side by side: the steps between rows are those of whole rows.
  Strides steps = broadcast_strides(angles, problem.outputs[0].descriptor.shape);
  const Nest<1> rows(found->rows, {steps});
  return make_kernel([rows, r = *found](const Arguments& arguments) {
    const auto input = [&](std::size_t i) {
      return reinterpret_cast<const float*>(arguments.inputs[i]);
    };
    auto* const result = reinterpret_cast<float*>(arguments.outputs[0]);
    const float *const cosines = input(r.together ? 1 : 2), *const sines =
                                                                input(r.together ? 2 : 3);
    const auto run = HWY_DYNAMIC_DISPATCH(rotate);
    rows.each(0, [&](const auto& angle, std::int64_t row) {
      const auto number = static_cast<std::size_t>(row);
      const float* const a = input(0) + number * r.pairs * (r.together ? 2 : 1);
      run({.a = a,
           .b = r.together ? a + r.pairs : input(1) + number * r.pairs,
           .cosines = cosines + angle[0],
           .sines = sines + angle[0],
           .result = result + number * 2 * r.pairs},
          r.pairs, r.interleaved, r.together);
    });
  });
}

}  // namespace polychron::kernels::direct
#endif
