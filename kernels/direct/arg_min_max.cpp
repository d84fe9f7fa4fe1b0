// argMin and argMax, computed with integer keys of the numbers.
#include <algorithm>
#include <array>
#include <limits>

#include "kernels/direct/direct.hpp"
#include "kernels/direct/order_keys.hpp"
#include "kernels/elements.hpp"
#include "kernels/function_kernel.hpp"
#include "kernels/vectors.hpp"
#include "ops/number.hpp"
#include "ops/table.hpp"

namespace polychron::kernels::direct {
namespace {

/// The largest key of a few numbers, computed in vector lanes.
template <bool largest, class Key, class T>
Key largest_key(const T* in, std::size_t count) {
  constexpr std::size_t lanes = 64;
  std::array<Key, lanes> most;
  most.fill(std::numeric_limits<Key>::min());
  const auto take = [&](std::size_t first, std::size_t width) {
    for (std::size_t k = 0; k < width; ++k) {
      const Key next = key<largest>(in[first + k]);
      most[k] = most[k] < next ? next : most[k];
    }
  };
  std::size_t done = 0;
  for (; done + lanes <= count; done += lanes) take(done, lanes);
  take(done, count - done);
  for (std::size_t half = lanes / 2; half > 0; half /= 2)
    for (std::size_t k = 0; k < half; ++k)
      most[k] = most[k] < most[half + k] ? most[half + k] : most[k];
  return most[0];
}

/// The first element with the key `wanted`, which one of `count` elements has. Most steps have
/// none.
template <bool largest, class Key, class T>
std::size_t place_of(Key wanted, const T* in, std::size_t count) {
  constexpr std::size_t step = 32;
  std::size_t i = 0;
  for (; i + step <= count; i += step) {
    unsigned found = 0;
    for (std::size_t k = 0; k < step; ++k) found |= key<largest>(in[i + k]) == wanted ? 1U : 0U;
    if (found != 0) break;
  }
  while (key<largest>(in[i]) != wanted) ++i;
  return i;
}

/// The first of the largest keys of a line. Only searches a block if its largest key is above those
/// of all blocks before it.
template <bool largest, class T>
std::size_t first_in_line(const T* in, std::size_t count) {
  using Key = decltype(key<largest>(T{}));
  if (count < 32) {  // too few for vectors
    std::size_t place = 0;
    Key most = key<largest>(in[0]);
    for (std::size_t i = 1; i < count; ++i) {
      const Key next = key<largest>(in[i]);
      const bool more = most < next;
      most = more ? next : most;
      place = more ? i : place;
    }
    return place;
  }
  constexpr std::size_t block = 1024;
  std::size_t best = 0;
  for (std::size_t start = 0; start < count; start += block) {
    const std::size_t end = std::min(start + block, count);
    const Key most = largest_key<largest, Key>(in + start, end - start);
    if (start > 0 && most <= key<largest>(in[best])) continue;
    best = start + place_of<largest>(most, in + start, end - start);
  }
  return best;
}

/// The same for `width` columns at once, `step` elements from row to row.
template <bool largest, class T, class I>
void first_in_columns(const T* in, I* out, std::size_t rows, std::size_t step, std::size_t width) {
  using Key = decltype(key<largest>(T{}));
  constexpr std::size_t tile = 128;
  std::array<Key, tile> best;
  std::array<std::int32_t, tile> place;
  for (std::size_t start = 0; start < width; start += tile) {
    const std::size_t count = std::min(tile, width - start);
    for (std::size_t k = 0; k < count; ++k) best[k] = key<largest>(in[start + k]);
    std::fill_n(place.begin(), count, 0);
    for (std::size_t row = 1; row < rows; ++row) {
      const T* from = in + row * step + start;
      const auto number = static_cast<std::int32_t>(row);
      for (std::size_t k = 0; k < count; ++k) {
        const Key next = key<largest>(from[k]);
        const bool more = best[k] < next;
        best[k] = more ? next : best[k];
        place[k] = more ? number : place[k];
      }
    }
    std::copy_n(place.begin(), count, out + start);
  }
}

template <bool largest, class T, class I>
void compute(const Around& seen, const T* in, I* out) {
  for (std::size_t i = 0; i < seen.outer; ++i, in += seen.extent * seen.inner, out += seen.inner)
    if (seen.inner == 1)
      *out = static_cast<I>(first_in_line<largest>(in, seen.extent));
    else
      first_in_columns<largest>(in, out, seen.extent, seen.inner, seen.inner);
}

}  // namespace

KernelResult prepare_arg_min_max(const Problem& problem) {
  if (const auto reason = not_plain(problem)) return refuse(*reason);
  const Around seen = around(problem.inputs[0].descriptor.shape,
                             std::get<ArgMinMaxAttributes>(problem.attributes).axis);
  const bool largest = problem.op == ops::op("argMax");
  const bool wide = problem.outputs[0].descriptor.data_type == DataType::int64;
  return ops::with_element(problem.inputs[0].descriptor.data_type, [&]<class T>(T) {
    return make_kernel([seen, largest, wide](const Arguments& arguments) {
      const auto run = [&]<class I>(I* out) {
        const auto* in = reinterpret_cast<const T*>(arguments.inputs[0]);
        with_vectors(
            [&] { largest ? compute<true>(seen, in, out) : compute<false>(seen, in, out); });
      };
      if (wide) return run(reinterpret_cast<std::int64_t*>(arguments.outputs[0]));
      run(reinterpret_cast<std::int32_t*>(arguments.outputs[0]));
    });
  });
}

}  // namespace polychron::kernels::direct
