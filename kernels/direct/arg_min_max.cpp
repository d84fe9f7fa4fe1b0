// argMin and argMax. Numbers become signed integers in the same order, which compare without
// exceptions: two zeros are equal, NaN is beyond everything, and the smallest is the largest of the
// inverse.
#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "kernels/direct/direct.hpp"
#include "kernels/elements.hpp"
#include "kernels/function_kernel.hpp"
#include "ops/number.hpp"
#include "ops/table.hpp"

namespace polychron::kernels::direct {
namespace {

template <class T>
using Signed = std::make_signed_t<T>;

/// A float of the bits `bits`, of which NaN are those above `infinity` without their sign.
template <bool largest, class U>
Signed<U> float_key(U bits, U infinity) {
  constexpr U sign = U{1} << (std::numeric_limits<U>::digits - 1);
  const U magnitude = bits & static_cast<U>(~sign);
  const auto size = static_cast<Signed<U>>(magnitude);
  const auto opposite = static_cast<Signed<U>>(-size);
  const bool negative = (bits & sign) != 0;
  const Signed<U> value = negative == largest ? opposite : size;
  return magnitude > infinity ? std::numeric_limits<Signed<U>>::max() : value;
}

template <bool largest>
std::int32_t key(float value) {
  return float_key<largest, std::uint32_t>(std::bit_cast<std::uint32_t>(value), 0x7f800000U);
}
template <bool largest>
std::int16_t key(float16 value) {
  return float_key<largest, std::uint16_t>(value.bits, 0x7c00U);
}
template <bool largest, std::integral T>
Signed<T> key(T value) {
  constexpr T lowest =
      std::is_signed_v<T> ? T{0} : static_cast<T>(std::numeric_limits<Signed<T>>::max() + T{1});
  const auto ordered = static_cast<Signed<T>>(value ^ lowest);
  return largest ? ordered : static_cast<Signed<T>>(~ordered);
}

/// The first of the largest keys of a line. Block by block: only one that has a larger key than
/// those before it is looked at again.
template <bool largest, class T>
std::size_t first_in_line(const T* in, std::size_t count) {
  using Key = decltype(key<largest>(T{}));
  constexpr std::size_t block = 1024;
  std::size_t best = 0;
  for (std::size_t start = 0; start < count; start += block) {
    const std::size_t end = std::min(start + block, count);
    Key most = std::numeric_limits<Key>::min();
    for (std::size_t i = start; i < end; ++i) most = std::max(most, key<largest>(in[i]));
    if (start > 0 && most <= key<largest>(in[best])) continue;
    best = start;
    while (key<largest>(in[best]) != most) ++best;
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
        largest ? compute<true>(seen, in, out) : compute<false>(seen, in, out);
      };
      if (wide) return run(reinterpret_cast<std::int64_t*>(arguments.outputs[0]));
      run(reinterpret_cast<std::int32_t*>(arguments.outputs[0]));
    });
  });
}

}  // namespace polychron::kernels::direct
