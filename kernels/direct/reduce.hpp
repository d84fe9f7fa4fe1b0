// The loops of reductions: one algorithm for every choice of axes.
//
// Neighbouring dimensions that are both reduced, or both kept, are merged. Those of extent 1 are
// dropped. If the last dimension is reduced, a line of neighbours becomes one number; short lines
// are taken several at a time. If it is kept, rows of `inner` elements become one row; contiguous
// short rows are taken several at a time.
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
  static constexpr std::int64_t width = 128;       ///< accumulators side by side
  static constexpr std::int64_t lanes = 32;        ///< of a line, or short lines side by side
  static constexpr std::int64_t short_line = 128;  ///< elements; longer lines are taken alone

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
    const auto& [inner, steps] = kept_.dimensions().front();
    const std::int64_t step = steps[0];
    kept_.each(1, [&, inner = inner](const auto& kept, std::int64_t index) {
      if (step != 1) return lines<F>(in + kept[0], step, out + index * inner, inner);
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

  /// Computes `count` results, of lines that begin `pitch` elements apart.
  template <class F, class T>
  void lines(const T* in, std::int64_t pitch, T* out, std::int64_t count) const {
    std::int64_t i = 0;
    if (gone_.dimensions().size() == 1 && count_ <= short_line)
      for (; i + lanes <= count; i += lanes) short_lines<F>(in + i * pitch, pitch, out + i);
    for (; i < count; ++i) line<F>(in + i * pitch, out[i]);
  }

  template <class F, class T>
  void short_lines(const T* in, std::int64_t pitch, T* out) const {
    typename F::Accumulator accumulators[lanes];
    for (auto& each : accumulators) each = F::first();
    for (std::int64_t i = 0; i < count_; ++i)
      for (std::int64_t k = 0; k < lanes; ++k)
        accumulators[k] = F::join(accumulators[k], in[k * pitch + i]);
    const auto number = static_cast<double>(count_);
    for (std::int64_t k = 0; k < lanes; ++k) F::finish(accumulators[k], number, out[k]);
  }

  template <class F, class T>
  void line(const T* in, T& out) const {
    auto all = F::first();
    const std::int64_t along = gone_.dimensions().front().count;
    gone_.each(1, [&](const auto& gone, std::int64_t) {
      all = F::merge(all, merged<F>(in + gone[0], along));
    });
    F::finish(all, static_cast<double>(count_), out);
  }

  /// The accumulator of `count` neighbours.
  template <class F, class T>
  static typename F::Accumulator merged(const T* in, std::int64_t count) {
    if (count < lanes) {
      auto all = F::first();
      for (std::int64_t i = 0; i < count; ++i) all = F::join(all, in[i]);
      return all;
    }
    typename F::Accumulator accumulators[lanes];
    for (std::int64_t i = 0; i < lanes; ++i) accumulators[i] = F::join(F::first(), in[i]);
    std::int64_t done = lanes;
    for (; done + lanes <= count; done += lanes) join<F>(accumulators, in + done, lanes);
    join<F>(accumulators, in + done, count - done);
    for (std::int64_t half = lanes / 2; half > 0; half /= 2)
      fold<F>(accumulators, accumulators + half, half);
    return accumulators[0];
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
    const auto number = static_cast<double>(count_);
    for (std::int64_t i = 0; i < count; ++i) F::finish(to[i], number, out[i]);
  }

  Nest<1> kept_{{}, {}}, gone_{{}, {}};
  std::int64_t count_ = 1;
};

}  // namespace polychron::kernels::direct
