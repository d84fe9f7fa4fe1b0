// cumulativeSum. Adds floats in double: a float32 sum of float16 drifts along a long line.
#include <algorithm>
#include <array>

#include "kernels/direct/direct.hpp"
#include "kernels/elements.hpp"
#include "kernels/function_kernel.hpp"
#include "kernels/half.hpp"
#include "kernels/vectors.hpp"
#include "ops/number.hpp"

namespace polychron::kernels::direct {
namespace {

double widened(float value) { return static_cast<double>(value); }
double widened(float16 value) { return static_cast<double>(to_float(value)); }
/// Unsigned, so that sums wrap around.
template <std::integral T>
auto widened(T value) {
  return static_cast<std::make_unsigned_t<T>>(value);
}

template <class T, class W>
T narrowed(W value) {
  if constexpr (std::is_same_v<T, float16>)
    return float16(value);
  else
    return static_cast<T>(value);
}

/// `step` elements from one to the next along the axis; negative for a reversed sum.
struct Walk {
  std::ptrdiff_t step;
  std::size_t extent;
  bool exclusive;
};

/// Adds `in` to `sum`, and writes the sum with it, or without it if `exclusive`.
template <class T, class W>
void advance(W& sum, const T& in, T& out, bool exclusive) {
  const W before = sum;
  sum = static_cast<W>(sum + widened(in));
  out = narrowed<T>(exclusive ? before : sum);
}

/// Sums one line in blocks. Adds up the parts of each block first. The parts then advance side by
/// side, so that no addition waits for the one before it.
template <class T>
void sum_line(const T* in, T* out, const Walk& walk) {
  using W = decltype(widened(T{}));
  constexpr std::size_t parts = 8, part = 64, block = parts * part;
  const auto step = walk.step;
  W total{};
  std::size_t done = 0;
  for (; walk.extent - done >= block; done += block) {
    std::array<W, parts> sums{};
    for (std::size_t i = 0; i < part; ++i)
      for (std::size_t k = 0; k < parts; ++k)
        sums[k] =
            static_cast<W>(sums[k] + widened(in[static_cast<std::ptrdiff_t>(k * part + i) * step]));
    for (W& sum : sums) sum = std::exchange(total, static_cast<W>(total + sum));
    for (std::size_t i = 0; i < part; ++i)
      for (std::size_t k = 0; k < parts; ++k) {
        const auto at = static_cast<std::ptrdiff_t>(k * part + i) * step;
        advance(sums[k], in[at], out[at], walk.exclusive);
      }
    in += static_cast<std::ptrdiff_t>(block) * step;
    out += static_cast<std::ptrdiff_t>(block) * step;
  }
  for (; done < walk.extent; ++done, in += step, out += step)
    advance(total, *in, *out, walk.exclusive);
}

/// Sums `width` lines side by side.
template <class T>
void sum_columns(const T* in, T* out, const Walk& walk, std::size_t width) {
  using W = decltype(widened(T{}));
  constexpr std::size_t tile = 128;
  for (std::size_t start = 0; start < width; start += tile) {
    const std::size_t count = std::min(tile, width - start);
    std::array<W, tile> sums{};
    for (std::size_t i = 0; i < walk.extent; ++i) {
      const auto row =
          static_cast<std::ptrdiff_t>(i) * walk.step + static_cast<std::ptrdiff_t>(start);
      if (walk.exclusive)
        for (std::size_t k = 0; k < count; ++k)
          advance(sums[k], in[row + static_cast<std::ptrdiff_t>(k)],
                  out[row + static_cast<std::ptrdiff_t>(k)], true);
      else
        for (std::size_t k = 0; k < count; ++k)
          advance(sums[k], in[row + static_cast<std::ptrdiff_t>(k)],
                  out[row + static_cast<std::ptrdiff_t>(k)], false);
    }
  }
}

}  // namespace

KernelResult prepare_cumulative_sum(const Problem& problem) {
  if (const auto reason = not_plain(problem)) return refuse(*reason);
  const auto& a = std::get<CumulativeSumAttributes>(problem.attributes);
  const Around seen = around(problem.inputs[0].descriptor.shape, a.axis);
  const auto inner = static_cast<std::ptrdiff_t>(seen.inner);
  const Walk walk{a.reversed ? -inner : inner, seen.extent, a.exclusive};
  const std::size_t first = a.reversed ? (seen.extent - 1) * seen.inner : 0;
  return ops::with_element(problem.inputs[0].descriptor.data_type, [&]<class T>(T) {
    return make_kernel(
        [seen, walk, first](const Arguments& arguments) {
          const auto* in = reinterpret_cast<const T*>(arguments.inputs[0]) + first;
          auto* out = reinterpret_cast<T*>(arguments.outputs[0]) + first;
          with_vectors([&] {
            for (std::size_t i = 0; i < seen.outer; ++i) {
              const std::size_t at = i * seen.extent * seen.inner;
              if (seen.inner == 1)
                sum_line(in + at, out + at, walk);
              else
                sum_columns(in + at, out + at, walk, seen.inner);
            }
          });
        },
        0);
  });
}

}  // namespace polychron::kernels::direct
