// The loops of convolutions of 8-bit integers. Written with Highway, which compiles this file once
// for each instruction set and chooses the processor's at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/direct/integer_picture.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "kernels/direct/integer_picture.hpp"
#include "kernels/direct/integer_results.hpp"
#include "kernels/vectors.hpp"

HWY_BEFORE_NAMESPACE();
namespace polychron::kernels::direct::HWY_NAMESPACE {

HWY_INLINE void add_pairs(std::int32_t weights, const std::int32_t* pairs, hn::Vec<Sums>& sums,
                          hn::Vec<Sums>& others) {
  const Sums d;
#if HWY_TARGET == HWY_SCALAR
  const auto product = [&](int shift) {
    return static_cast<std::int16_t>(weights >> shift) * static_cast<std::int16_t>(*pairs >> shift);
  };
  sums = hn::Add(sums, hn::Set(d, product(0) + product(16)));
  static_cast<void>(others);
#else
  const hn::Repartition<std::int16_t, Sums> halves;
  sums = hn::ReorderWidenMulAccumulate(d, hn::BitCast(halves, hn::Set(d, weights)),
                                       hn::BitCast(halves, hn::LoadU(d, pairs)), sums, others);
#endif
}

/// The sum as the type of the results, in 32 bits.
HWY_INLINE hn::Vec<Sums> finished(const IntegerPixels& p, std::size_t filter, hn::Vec<Sums> sum) {
  const Sums d;
  const Reals real;
  if (p.type == DataType::int32) return sum;
  auto x = hn::Add(hn::Mul(hn::ConvertTo(real, sum), hn::Set(real, p.factors[filter])),
                   hn::Set(real, p.summands[filter]));
  const auto lowest = hn::Set(real, p.lowest), highest = hn::Set(real, p.highest);
  x = hn::IfThenElse(hn::Lt(x, lowest), lowest, x);  // keeps NaN
  x = hn::IfThenElse(hn::Gt(x, highest), highest, x);
  if (p.type == DataType::float32) return hn::BitCast(d, x);
  return quantized(x, hn::Set(real, p.scales[filter]), hn::Set(d, p.zeros[filter]),
                   p.type == DataType::int8);
}

/// Copies those of `count` pixels from `first` on that exist.
HWY_INLINE void copy_existing(const IntegerPixels& p, std::size_t filter, std::size_t first,
                              std::size_t count, const std::byte* from) {
  const std::size_t bytes = byte_size(p.type);
  std::byte* const to = p.results + filter * p.step * bytes;
  for (std::size_t i = 0, y = first / p.row, x = first % p.row; i < count; ++y, x = 0) {
    const std::size_t length = std::min(p.row - x, count - i);
    if (x < p.width)
      std::memcpy(to + (y * p.width + x) * bytes, from + i * bytes,
                  std::min(length, p.width - x) * bytes);
    i += length;
  }
}

/// The pixels from `pixel` on of `Filters` filters from `first` on, `Vectors` vectors of them.
template <std::size_t Filters, std::size_t Vectors>
HWY_INLINE void convolve_tile(const IntegerPixels& p, std::size_t first, std::size_t pixel,
                              std::size_t pixels) {
  const Sums d;
  const std::size_t lanes = hn::Lanes(d), step = p.offsets.size();
  hn::Vec<Sums> sums[Filters][Vectors], others[Filters][Vectors];
  POLYCHRON_UNROLLED_LOOP
  for (std::size_t f = 0; f < Filters; ++f) {
    POLYCHRON_UNROLLED_LOOP
    for (std::size_t v = 0; v < Vectors; ++v) sums[f][v] = others[f][v] = hn::Zero(d);
  }
  const std::int32_t* const weights = p.weights + first * step;
  const std::int32_t* const picture = p.picture + pixel;
  for (std::size_t i = 0; i < step; ++i) {
    const std::int32_t* const pairs = picture + p.offsets[i];
    POLYCHRON_UNROLLED_LOOP
    for (std::size_t f = 0; f < Filters; ++f) {
      POLYCHRON_UNROLLED_LOOP
      for (std::size_t v = 0; v < Vectors; ++v)
        add_pairs(weights[f * step + i], pairs + v * lanes, sums[f][v], others[f][v]);
    }
  }
  std::byte some[most_integer_pixels * sizeof(std::int32_t)];
  const std::size_t count = std::min(Vectors * lanes, pixels - pixel), bytes = byte_size(p.type);
  const bool all_exist = p.row == p.width && count == Vectors * lanes;
  POLYCHRON_UNROLLED_LOOP
  for (std::size_t f = 0; f < Filters; ++f) {
    std::byte* const to = all_exist ? p.results + ((first + f) * p.step + pixel) * bytes : some;
    const auto bias = hn::Set(d, p.biases[first + f]);
    POLYCHRON_UNROLLED_LOOP
    for (std::size_t v = 0; v < Vectors; ++v) {
      const auto sum = hn::Add(hn::RearrangeToOddPlusEven(sums[f][v], others[f][v]), bias);
      store_results(p.type, finished(p, first + f, sum), to + v * lanes * bytes);
    }
    if (!all_exist) copy_existing(p, first + f, pixel, count, some);
  }
}

/// As many filters at a time as a core's second-level cache holds; their weights pass a tile, which
/// stays in the first level.
void convolve(const IntegerPixels& p) {
  const std::size_t lanes = hn::Lanes(Sums()), pixels = (p.rows - 1) * p.row + p.width;
  if (p.filters == 1) {
    for (std::size_t pixel = 0; pixel < pixels; pixel += 4 * lanes)
      convolve_tile<1, 4>(p, 0, pixel, pixels);
    return;
  }
  constexpr std::size_t own = std::size_t{128} << 10;
  const std::size_t fitting = own / (p.offsets.size() * sizeof(std::int32_t));
  const std::size_t block =
      std::max<std::size_t>(fitting / most_integer_filters, 1) * most_integer_filters;
  for (std::size_t first = 0; first < p.filters; first += block) {
    const std::size_t last = std::min(first + block, p.filters);
    for (std::size_t pixel = 0; pixel < pixels; pixel += 2 * lanes) {
      std::size_t filter = first;
      for (; filter + most_integer_filters <= last; filter += most_integer_filters)
        convolve_tile<most_integer_filters, 2>(p, filter, pixel, pixels);
      if (last - filter == 3) convolve_tile<3, 2>(p, filter, pixel, pixels);
      if (last - filter == 2) convolve_tile<2, 2>(p, filter, pixel, pixels);
      if (last - filter == 1) convolve_tile<1, 2>(p, filter, pixel, pixels);
    }
  }
}

template <class T, std::size_t Stride>
HWY_INLINE void widen(const IntegerRow& row, std::size_t stride) {
  const auto* const first = reinterpret_cast<const T*>(row.first);
  const auto* const second = reinterpret_cast<const T*>(row.second);
  POLYCHRON_INDEPENDENT_STEPS
  for (std::size_t i = 0; i < row.count; ++i) {
    const std::size_t at = i * (Stride == 0 ? stride : Stride);
    const auto low = static_cast<std::uint32_t>(first[at] - row.zero) & 0xffffU;
    const auto high = static_cast<std::uint32_t>(second[at] - row.zero) << 16U;
    row.pairs[i] = static_cast<std::int32_t>(low | high);
  }
}
template <class T>
HWY_INLINE void widen_any(const IntegerRow& row) {
  if (row.stride == 1) return widen<T, 1>(row, 1);
  if (row.stride == 2) return widen<T, 2>(row, 2);
  widen<T, 0>(row, row.stride);
}
void widen_row(const IntegerRow& row) {
  row.is_signed ? widen_any<std::int8_t>(row) : widen_any<std::uint8_t>(row);
}

}  // namespace polychron::kernels::direct::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace polychron::kernels::direct {

HWY_EXPORT(convolve);
HWY_EXPORT(widen_row);

void convolve_integers(const IntegerPixels& pixels) { HWY_DYNAMIC_DISPATCH(convolve)(pixels); }
void widen_integers(const IntegerRow& row) { HWY_DYNAMIC_DISPATCH(widen_row)(row); }

}  // namespace polychron::kernels::direct
#endif
