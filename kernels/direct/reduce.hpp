// The loops of reductions: one algorithm for every choice of axes.
//
// Neighbouring dimensions that are both reduced, or both kept, are merged. Those of extent 1 are
// dropped. If the last dimension is reduced, a line of neighbours becomes one number. If it is
// kept, rows of `inner` elements become one row; contiguous short rows are taken several at a time.
//
// Several accumulators work side by side, so that no addition waits for the one before it. Those of
// one result are merged at the end.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "kernels/direct/nest.hpp"
#include "kernels/vectors.hpp"

namespace polychron::kernels::direct {

class Reduction {
 public:
  static constexpr std::int64_t width = 128;  ///< accumulators side by side
  static constexpr std::int64_t lanes = 32;   ///< of a line: as many as fit into registers
  static constexpr std::int64_t few = 8;      ///< for the tail of a line

  /// Reduces all dimensions if `axes` is absent.
  Reduction(const Shape& shape, const std::optional<std::vector<std::uint32_t>>& axes) {
    Shape kept, gone;
    Strides kept_steps{}, gone_steps{};
    const Strides steps = strides_of(shape);
    for (std::uint32_t i = 0; i < shape.size(); ++i) {
      const bool goes = !axes || std::ranges::find(*axes, i) != axes->end();
      (goes ? gone_steps[gone.size()] : kept_steps[kept.size()]) = steps[i];
      (goes ? gone : kept).push_back(shape[i]);
    }
    kept_ = Nest<1>(kept, {kept_steps});
    gone_ = Nest<1>(gone, {gone_steps});
    count_ = count_of(gone);
  }

  /// The number of elements that become one.
  std::int64_t count() const noexcept { return count_; }

  /// Reduces `in` into `out` by `F`: F::Accumulator, F::first(), join(accumulator, element),
  /// merge(accumulator, accumulator), finish(accumulator, count).
  template <class F, class T>
  void run(const T* in, T* out) const {
    if (kept_.dimensions().front().steps[0] != 1)
      return kept_.each(
          0, [&](const auto& kept, std::int64_t index) { line<F>(in + kept[0], out[index]); });
    const std::int64_t inner = kept_.dimensions().front().count;
    kept_.each(1, [&](const auto& kept, std::int64_t index) {
      for (std::int64_t start = 0; start < inner; start += width)
        columns<F>(in + kept[0] + start, out + index * inner + start, inner,
                   std::min(width, inner - start));
    });
  }

 private:
  template <class F, class T>
  static void join(typename F::Accumulator* accumulators, const T* in, std::int64_t count) {
    POLYCHRON_INDEPENDENT_STEPS
    for (std::int64_t i = 0; i < count; ++i) accumulators[i] = F::join(accumulators[i], in[i]);
  }
  template <class F>
  static void fold(typename F::Accumulator* to, const typename F::Accumulator* from,
                   std::int64_t count) {
    POLYCHRON_INDEPENDENT_STEPS
    for (std::int64_t i = 0; i < count; ++i) to[i] = F::merge(to[i], from[i]);
  }

  template <class F, class T>
  void line(const T* in, T& out) const {
    // Eight more, and one, for the tails of lines: stored values are read again in the same size.
    std::array<typename F::Accumulator, lanes> accumulators;
    std::array<typename F::Accumulator, few> ends;
    accumulators.fill(F::first());
    ends.fill(F::first());
    auto rest = F::first();
    const std::int64_t along = gone_.dimensions().front().count;
    gone_.each(1, [&](const auto& gone, std::int64_t) {
      const T* const from = in + gone[0];
      std::int64_t i = 0;
      for (; i + lanes <= along; i += lanes) join<F>(accumulators.data(), from + i, lanes);
      for (; i + few <= along; i += few) join<F>(ends.data(), from + i, few);
      for (; i < along; ++i) rest = F::join(rest, from[i]);
    });
    for (std::int64_t k = 0; k < lanes; k += few)
      fold<F>(ends.data(), accumulators.data() + k, few);
    for (std::int64_t half = few / 2; half > 0; half /= 2)
      fold<F>(ends.data(), ends.data() + half, half);
    F::finish(F::merge(ends.front(), rest), count_, out);
  }

  /// Computes `count` neighbouring results, of rows that are `pitch` elements apart.
  template <class F, class T>
  void columns(const T* in, T* out, std::int64_t pitch, std::int64_t count) const {
    std::array<typename F::Accumulator, width> accumulators;
    auto* const to = accumulators.data();
    const std::int64_t along = gone_.dimensions().front().count;
    const std::int64_t step = gone_.dimensions().front().steps[0];
    const std::int64_t repeat =
        count == pitch && step == pitch ? std::min(along, width / count) : 1;
    const std::int64_t at_once = repeat * count;
    std::fill_n(to, at_once, F::first());
    gone_.each(1, [&](const auto& gone, std::int64_t) {
      const T* row = in + gone[0];
      std::int64_t left = along;
      for (; left >= repeat; left -= repeat, row += repeat * step)
        if (at_once == width)
          join<F>(to, row, width);
        else
          join<F>(to, row, at_once);
      join<F>(to, row, left * count);
    });
    for (std::int64_t rows = repeat; rows > 1; rows -= rows / 2)
      fold<F>(to, to + (rows - rows / 2) * count, rows / 2 * count);
    for (std::int64_t i = 0; i < count; ++i) F::finish(to[i], count_, out[i]);
  }

  Nest<1> kept_{{}, {}}, gone_{{}, {}};
  std::int64_t count_ = 1;
};

}  // namespace polychron::kernels::direct
