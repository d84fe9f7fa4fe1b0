// Attention of a few rows over a cache that is longer than its tokens. The cache is of float32 or
// float16, which becomes float32 in registers; all else is float32. Written with Highway, which
// compiles this file once for each instruction set and chooses the processor's at run time.
//
// Each row is computed alone: the same sums in the same order, whatever rows are beside it and by
// however many threads.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/direct/cached_attention.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <hwy/highway.h>

#include <algorithm>
#include <utility>

#include "kernels/attention_operands.hpp"
#include "kernels/direct/attention_row.hpp"
#include "kernels/direct/direct.hpp"
#include "kernels/direct/parts_bound.hpp"
#include "kernels/direct/softmax_rows.hpp"
#include "kernels/parts.hpp"
#include "kernels/vectors.hpp"

HWY_BEFORE_NAMESPACE();
namespace polychron::kernels::direct::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Real = hn::CappedTag<float, 16>;
using Reals = hn::Vec<Real>;

HWY_INLINE Reals load(const float* from) { return hn::LoadU(Real(), from); }
HWY_INLINE Reals load(const float16* from) {
  const hn::Rebind<hwy::float16_t, Real> halves;
  return hn::PromoteTo(Real(), hn::LoadU(halves, reinterpret_cast<const hwy::float16_t*>(from)));
}

/// The products of a row with `Count` keys, times `scale`, plus their masks.
template <std::size_t Count, class T>
HWY_INLINE void score(const float* q, const T* keys, std::size_t features, float scale,
                      const float* mask, float* scores) {
  const Real d;
  Reals sums[Count];
  POLYCHRON_UNROLLED_LOOP
  for (std::size_t k = 0; k < Count; ++k) sums[k] = hn::Zero(d);
  for (std::size_t i = 0; i < features; i += hn::Lanes(d)) {
    const auto own = hn::LoadU(d, q + i);
    POLYCHRON_UNROLLED_LOOP
    for (std::size_t k = 0; k < Count; ++k)
      sums[k] = hn::MulAdd(own, load(keys + k * features + i), sums[k]);
  }
  POLYCHRON_UNROLLED_LOOP
  for (std::size_t k = 0; k < Count; ++k)
    scores[k] = hn::GetLane(hn::SumOfLanes(d, sums[k])) * scale + mask[k];
}

template <class T>
HWY_INLINE void score_all(const float* q, const T* keys, std::size_t count, std::size_t features,
                          float scale, const float* mask, float* scores) {
  std::size_t k = 0;
  for (; k + 4 <= count; k += 4)
    score<4>(q, keys + k * features, features, scale, mask + k, scores + k);
  for (; k < count; ++k) score<1>(q, keys + k * features, features, scale, mask + k, scores + k);
}

/// Adds weighted values to `Vectors` vectors of features.
template <std::size_t Vectors, class T>
HWY_INLINE void add_values(const float* weights, const T* values, std::size_t count,
                           std::size_t features, Reals* sums) {
  const Real d;
  for (std::size_t k = 0; k < count; ++k) {
    const auto weight = hn::Set(d, weights[k]);
    POLYCHRON_UNROLLED_LOOP
    for (std::size_t v = 0; v < Vectors; ++v)
      sums[v] = hn::MulAdd(weight, load(values + k * features + v * hn::Lanes(d)), sums[v]);
  }
}

template <std::size_t Vectors, class T>
HWY_INLINE void weigh(const AttentionRow<T>& row, std::size_t features, std::size_t first) {
  const Real d;
  Reals sums[Vectors];
  POLYCHRON_UNROLLED_LOOP
  for (std::size_t v = 0; v < Vectors; ++v) sums[v] = hn::Zero(d);
  add_values<Vectors>(row.scores, row.values + first, row.cached, features, sums);
  add_values<Vectors>(row.scores + row.cached, row.fresh_values + first, row.fresh, features, sums);
  POLYCHRON_UNROLLED_LOOP
  for (std::size_t v = 0; v < Vectors; ++v)
    hn::StoreU(sums[v], d, row.result + first + v * hn::Lanes(d));
}

/// False if no score is above those of keys that a mask hides: `row.scores` are no weights then.
template <class T>
HWY_INLINE bool attend(const AttentionRow<T>& row, std::size_t features, float scale) {
  const std::size_t lanes = hn::Lanes(Real()), keys = row.cached + row.fresh;
  score_all(row.q, row.keys, row.cached, features, scale, row.mask, row.scores);
  score_all(row.q, row.fresh_keys, row.fresh, features, scale, row.fresh_mask,
            row.scores + row.cached);
  if (!row.all && std::none_of(row.scores, row.scores + keys, is_high)) return false;
  soften_rows(row.scores, 0, 1, keys, 1, {});  // already scaled and masked
  std::size_t first = 0;
  for (; first + 8 * lanes <= features; first += 8 * lanes) weigh<8>(row, features, first);
  for (; first < features; first += lanes) weigh<1>(row, features, first);
  return true;
}

bool attend_row(const AttentionRow<float>& row, std::size_t features, float scale) {
  return attend(row, features, scale);
}
bool attend_row_of_halves(const AttentionRow<float16>& row, std::size_t features, float scale) {
  return attend(row, features, scale);
}

}  // namespace polychron::kernels::direct::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace polychron::kernels::direct {
namespace {

HWY_EXPORT(attend_row);
HWY_EXPORT(attend_row_of_halves);

bool attended(const AttentionRow<float>& row, std::size_t features, float scale) {
  return HWY_DYNAMIC_DISPATCH(attend_row)(row, features, scale);
}
bool attended(const AttentionRow<float16>& row, std::size_t features, float scale) {
  return HWY_DYNAMIC_DISPATCH(attend_row_of_halves)(row, features, scale);
}

/// The keys from the first to the last one that the mask lets through.
struct Seen {
  std::size_t first = 0, last = 0;
};

Seen seen(const float* mask, std::size_t keys) {
  Seen some{0, keys};
  while (some.last > 0 && is_hidden(mask[some.last - 1])) --some.last;
  while (some.first < some.last && is_hidden(mask[some.first])) ++some.first;
  return some;
}

/// Some rows of all groups.
struct RowShare {
  std::size_t first, last, worker;
};

class CachedAttentionKernel final : public Kernel {
 public:
  explicit CachedAttentionKernel(const CachedAttention& operands) : a_(operands) {
    const std::size_t rows = a_.groups * a_.rows;
    // A key takes a row 8 ns at 64 features. Usually half of the cache is in use.
    const double work = static_cast<double>(rows * (a_.cached / 2 + a_.fresh) * a_.features) / 8;
    const std::size_t parts = parts_of(work, rows);
    for (std::size_t i = 0; i < parts; ++i)
      shares_.push_back({rows * i / parts, rows * (i + 1) / parts, i});
  }

  std::size_t parts() const noexcept override { return shares_.size(); }
  std::size_t scratch_bytes() const noexcept override {
    return parts() * worker_floats() * sizeof(float);
  }
  std::unique_ptr<Bound> bind(const Arguments& arguments) const override {
    return std::make_unique<PartsBound<CachedAttentionKernel, const Arguments&>>(*this, arguments);
  }

  RowShare whole() const { return {0, a_.groups * a_.rows, 0}; }
  const RowShare& share(std::size_t part) const { return shares_[part]; }
  std::span<const std::byte> read_first(const RowShare&) const noexcept { return {}; }

  void compute(const RowShare& share, const Arguments& arguments,
               std::span<const std::byte>) const {
    if (a_.halves) return compute_rows<float16>(share, arguments);
    compute_rows<float>(share, arguments);
  }

 private:
  template <class Cached>
  void compute_rows(const RowShare& share, const Arguments& arguments) const {
    const auto cached = [&](std::size_t i) {
      return reinterpret_cast<const Cached*>(arguments.inputs[i]);
    };
    const auto input = [&](std::size_t i) {
      return reinterpret_cast<const float*>(arguments.inputs[i]);
    };
    const float* known = nullptr;  // the mask of `old`, which rows may share
    Seen old;
    for (std::size_t i = share.first; i < share.last; ++i) {
      const std::size_t group = i / a_.rows, r = i % a_.rows;
      const float* const mask = input(3) + place(a_.mask, group, r);
      // Without fresh keys these are addresses that nobody reads.
      const std::size_t first_fresh = a_.fresh == 0 ? 1 : 4;
      const float* const fresh_mask =
          a_.fresh == 0 ? mask : input(6) + place(a_.fresh_mask, group, r);
      if (mask != std::exchange(known, mask)) old = seen(mask, a_.cached);
      Seen own = seen(fresh_mask, a_.fresh);
      const auto attend = [&](bool all) {
        const std::size_t in_cache = (group * a_.cached + old.first) * a_.features,
                          in_fresh = (group * a_.fresh + own.first) * a_.features;
        return attended(
            AttentionRow<Cached>{
                .q = input(0) + i * a_.features,
                .keys = cached(1) + in_cache,
                .values = cached(2) + in_cache,
                .fresh_keys = input(first_fresh) + in_fresh,
                .fresh_values = input(first_fresh + 1) + in_fresh,
                .mask = mask + old.first,
                .fresh_mask = fresh_mask + own.first,
                .cached = old.last - old.first,
                .fresh = own.last - own.first,
                .all = all,
                .scores =
                    reinterpret_cast<float*>(arguments.scratch) + share.worker * worker_floats(),
                .result = reinterpret_cast<float*>(arguments.outputs[0]) + i * a_.features},
            a_.features, a_.scale);
      };
      if (attend(false)) continue;
      // Everything that the row sees is as low as what its masks hide.
      known = nullptr;
      old = {0, a_.cached};
      own = {0, a_.fresh};
      attend(true);
    }
  }

  /// The first number of a mask's row.
  std::int64_t place(const HeadSteps& mask, std::size_t group, std::size_t row) const {
    return head_offset(mask, a_.group_shape, group) + static_cast<std::int64_t>(row) * mask.row;
  }
  /// Scores, in whole lines of the caches.
  std::size_t worker_floats() const { return (a_.cached + a_.fresh + 15) / 16 * 16; }

  const CachedAttention a_;
  std::vector<RowShare> shares_;
};

}  // namespace

KernelResult prepare_cached_attention(const Problem& problem) {
  const auto operands = cached_attention(problem);
  if (!operands) return refuse("not an attention over a cache as our own loops take it");
  return KernelResult(std::make_unique<CachedAttentionKernel>(*operands));
}

}  // namespace polychron::kernels::direct
#endif
