// The loops of convolutions of 8-bit integers. Written with Highway, which compiles this file once
// for each instruction set and chooses the processor's at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/direct/integer_picture.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "kernels/direct/integer_fours.hpp"
#include "kernels/direct/integer_picture.hpp"
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
  auto sum = hn::ReorderWidenMulAccumulate(d, hn::BitCast(halves, hn::Set(d, weights)),
                                           hn::BitCast(halves, hn::LoadU(d, pairs)), sums, others);
  POLYCHRON_KEEP_SUM(sum);
  sums = sum;
#endif
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

HWY_INLINE Ending ending_of(const IntegerPixels& p, std::size_t filter) {
  const Reals real;
  Ending ending{.type = p.type};
  if (p.type == DataType::int32) return ending;
  ending.is_bounded = p.is_bounded;
  ending.lowest = hn::Set(real, p.lowest), ending.highest = hn::Set(real, p.highest);
  ending.factor = hn::Set(real, p.factors[filter]);
  ending.summand = hn::Set(real, p.summands[filter]);
  ending.scale = hn::Set(real, p.scales[filter]);
  ending.zero = hn::Set(Sums(), p.zeros[filter]);
  return ending;
}

template <std::size_t Filters, std::size_t Vectors>
using TileSums = hn::Vec<Sums>[Filters][Vectors];

/// The products of pairs of 16 bits. `picture` is where the first pixel's packs are.
template <std::size_t Filters, std::size_t Vectors>
HWY_INLINE void multiply_pairs(const IntegerFilters& filters, const std::int32_t* picture,
                               TileSums<Filters, Vectors>& sums) {
  const Sums d;
  TileSums<Filters, Vectors> others;
  POLYCHRON_UNROLLED_LOOP
  for (std::size_t f = 0; f < Filters; ++f) {
    POLYCHRON_UNROLLED_LOOP
    for (std::size_t v = 0; v < Vectors; ++v) sums[f][v] = others[f][v] = hn::Zero(d);
  }
  const std::int32_t* weights = filters.weights;
  for (const std::uint32_t offset : filters.offsets) {
    const std::int32_t* const pairs = picture + offset;
    POLYCHRON_UNROLLED_LOOP
    for (std::size_t f = 0; f < Filters; ++f, ++weights) {
      POLYCHRON_UNROLLED_LOOP
      for (std::size_t v = 0; v < Vectors; ++v)
        add_pairs(*weights, pairs + v * hn::Lanes(d), sums[f][v], others[f][v]);
    }
  }
  POLYCHRON_UNROLLED_LOOP
  for (std::size_t f = 0; f < Filters; ++f) {
    POLYCHRON_UNROLLED_LOOP
    for (std::size_t v = 0; v < Vectors; ++v)
      sums[f][v] = hn::RearrangeToOddPlusEven(sums[f][v], others[f][v]);
  }
}

#if HWY_TARGET != HWY_SCALAR
/// The products of bytes.
template <std::size_t Filters, std::size_t Vectors, class Instructions>
HWY_INLINE void multiply_fours(const IntegerFilters& filters, const std::int32_t* picture,
                               TileSums<Filters, Vectors>& sums) {
  const Sums d;
  const std::size_t lanes = hn::Lanes(d);
  POLYCHRON_UNROLLED_LOOP
  for (std::size_t f = 0; f < Filters; ++f) {
    POLYCHRON_UNROLLED_LOOP
    for (std::size_t v = 0; v < Vectors; ++v) sums[f][v] = hn::Zero(d);
  }
  const std::int32_t* weights = filters.weights;
  std::size_t i = 0;
  for (; i < filters.doubled; i += 2, weights += 2 * Filters) {
    const std::int32_t* const one = picture + filters.offsets[i];
    const std::int32_t* const other = picture + filters.offsets[i + 1];
    POLYCHRON_UNROLLED_LOOP
    for (std::size_t f = 0; f < Filters; ++f) {
      const auto x = hn::Set(d, weights[f]), y = hn::Set(d, weights[Filters + f]);
      POLYCHRON_UNROLLED_LOOP
      for (std::size_t v = 0; v < Vectors; ++v)
        Instructions::add(hn::LoadU(d, one + v * lanes), x, hn::LoadU(d, other + v * lanes), y,
                          sums[f][v]);
    }
  }
  for (; i < filters.offsets.size(); ++i, weights += Filters) {
    const std::int32_t* const fours = picture + filters.offsets[i];
    POLYCHRON_UNROLLED_LOOP
    for (std::size_t f = 0; f < Filters; ++f) {
      const auto x = hn::Set(d, weights[f]);
      POLYCHRON_UNROLLED_LOOP
      for (std::size_t v = 0; v < Vectors; ++v)
        Instructions::add(hn::LoadU(d, fours + v * lanes), x, sums[f][v]);
    }
  }
}
#endif

template <std::size_t Filters, std::size_t Vectors>
HWY_INLINE void multiply([[maybe_unused]] bool narrow, const IntegerFilters& filters,
                         const std::int32_t* picture, TileSums<Filters, Vectors>& sums) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_SSSE3
  if (narrow && !has_four_products())
    return multiply_fours<Filters, Vectors, ByPairSums>(filters, picture, sums);
#endif
#if HWY_TARGET != HWY_SCALAR
  if (narrow) return multiply_fours<Filters, Vectors, ByFours>(filters, picture, sums);
#endif
  multiply_pairs<Filters, Vectors>(filters, picture, sums);
}

/// Makes results of a tile's sums, and stores them. Not inline: otherwise g++ (12) runs out of
/// registers where the sums are computed.
template <std::size_t Filters, std::size_t Vectors>
HWY_NOINLINE void end_tile(const IntegerPixels& p, const std::int32_t* sums, std::size_t first,
                           std::size_t pixel, std::size_t pixels) {
  const Sums d;
  const std::size_t lanes = hn::Lanes(d), bytes = byte_size(p.type);
  const std::size_t count = std::min(Vectors * lanes, pixels - pixel);
  const bool all_exist = p.row == p.width && count == Vectors * lanes;
  std::byte some[most_integer_pixels * sizeof(std::int32_t)];
  POLYCHRON_UNROLLED_LOOP
  for (std::size_t f = 0; f < Filters; ++f) {
    const std::size_t filter = first + f;
    std::byte* const to = all_exist ? p.results + (filter * p.step + pixel) * bytes : some;
    const Ending ending = ending_of(p, filter);
    const auto bias = hn::Set(d, p.biases[filter]);
    POLYCHRON_UNROLLED_LOOP
    for (std::size_t v = 0; v < Vectors; ++v, sums += lanes)
      store_results(ending.type, finished(ending, hn::Add(hn::Load(d, sums), bias)),
                    to + v * lanes * bytes);
    if (!all_exist) copy_existing(p, filter, pixel, count, some);
  }
}

/// The pixels from `pixel` on of `Filters` filters from `first` on, `Vectors` vectors of them.
template <std::size_t Filters, std::size_t Vectors>
HWY_INLINE void convolve_tile(const IntegerPixels& p, std::size_t first, std::size_t pixel,
                              std::size_t pixels) {
  const IntegerFilters& filters = p.filters[first / most_integer_filters];
  TileSums<Filters, Vectors> sums;
  multiply<Filters, Vectors>(p.narrow, filters, p.picture + pixel, sums);
  const Sums d;
  HWY_ALIGN std::int32_t stored[most_integer_filters * most_integer_pixels];
  POLYCHRON_UNROLLED_LOOP
  for (std::size_t f = 0; f < Filters; ++f) {
    POLYCHRON_UNROLLED_LOOP
    for (std::size_t v = 0; v < Vectors; ++v)
      hn::Store(sums[f][v], d, stored + (f * Vectors + v) * hn::Lanes(d));
  }
  end_tile<Filters, Vectors>(p, stored, first, pixel, pixels);
}

/// As many filters at a time as a core's second-level cache holds; their weights pass a tile, which
/// stays in the first level.
void convolve(const IntegerPixels& p) {
  const std::size_t lanes = hn::Lanes(Sums()), pixels = (p.rows - 1) * p.row + p.width;
  if (p.count == 1) {
    for (std::size_t pixel = 0; pixel < pixels; pixel += 4 * lanes)
      convolve_tile<1, 4>(p, 0, pixel, pixels);
    return;
  }
  constexpr std::size_t own = std::size_t{128} << 10;
  const std::size_t fitting = own / (p.filters[0].offsets.size() * sizeof(std::int32_t));
  const std::size_t block =
      std::max<std::size_t>(fitting / most_integer_filters, 1) * most_integer_filters;
  for (std::size_t first = 0; first < p.count; first += block) {
    const std::size_t last = std::min(first + block, p.count);
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
  const auto* const first = reinterpret_cast<const T*>(row.elements[0]) + row.phase;
  const auto* const second = reinterpret_cast<const T*>(row.elements[1]) + row.phase;
  POLYCHRON_INDEPENDENT_STEPS
  for (std::size_t i = 0; i < row.count; ++i) {
    const std::size_t at = i * (Stride == 0 ? stride : Stride);
    const auto low = static_cast<std::uint32_t>(first[at] - row.zero) & 0xffffU;
    const auto high = static_cast<std::uint32_t>(second[at] - row.zero) << 16U;
    row.packs[i] = static_cast<std::int32_t>(low | high);
  }
}
using Packs = hn::ScalableTag<std::uint32_t>;

/// Every byte from `from` on, or every second one, in 32 bits.
template <std::size_t Stride>
HWY_INLINE hn::Vec<Packs> widened_bytes(const std::byte* from) {
  const Packs d;
  if constexpr (Stride == 1) {
    const hn::Rebind<std::uint8_t, Packs> bytes;
    return hn::PromoteTo(d, hn::LoadU(bytes, reinterpret_cast<const std::uint8_t*>(from)));
  } else {
    const hn::Rebind<std::uint16_t, Packs> two;
    return hn::PromoteTo(d, hn::And(hn::LoadU(two, reinterpret_cast<const std::uint16_t*>(from)),
                                    hn::Set(two, 0xff)));
  }
}

/// Adding 128 to a byte, or subtracting it, inverts its highest bit.
HWY_INLINE std::uint32_t inverted_bits(const IntegerRow& row) {
  return offset_of_bytes(row.is_signed) == 0 ? 0 : 0x80808080U;
}

HWY_INLINE void interleave_each(const IntegerRow& row) {
  for (std::size_t i = 0; i < row.count; ++i) {
    std::uint32_t four = 0;
    for (std::size_t k = 4; k-- > 0;)
      four = four << 8U | static_cast<std::uint32_t>(row.elements[k][i * row.stride + row.phase]);
    row.packs[i] = static_cast<std::int32_t>(four ^ inverted_bits(row));
  }
}

template <std::size_t Stride>
HWY_INLINE void interleave(const IntegerRow& row) {
  const Packs d;
  const std::size_t lanes = hn::Lanes(d);
  const auto bits = hn::Set(d, inverted_bits(row));
  const auto write = [&](std::size_t i) HWY_ATTR {
    const auto line = [&](std::size_t k) HWY_ATTR {
      return widened_bytes<Stride>(row.elements[k] + i * Stride + row.phase);
    };
    const auto low = hn::Or(line(0), hn::ShiftLeft<8>(line(1)));
    const auto high = hn::Or(line(2), hn::ShiftLeft<8>(line(3)));
    const auto four = hn::Xor(hn::Or(low, hn::ShiftLeft<16>(high)), bits);
    hn::StoreU(four, d, reinterpret_cast<std::uint32_t*>(row.packs + i));
  };
  if (row.count < lanes) return interleave_each(row);
  std::size_t i = 0;
  for (; i + lanes < row.count; i += lanes) write(i);
  write(row.count - lanes);
}

template <std::size_t Stride>
HWY_INLINE void make_pairs(const IntegerRow& row, std::size_t stride) {
  if (row.is_signed)
    widen<std::int8_t, Stride>(row, stride);
  else
    widen<std::uint8_t, Stride>(row, stride);
}
void make_row(const IntegerRow& row) {
  if (row.narrow) {
    if (row.stride == 1) return interleave<1>(row);
    if (row.stride == 2) return interleave<2>(row);
    return interleave_each(row);
  }
  if (row.stride == 1) return make_pairs<1>(row, 1);
  if (row.stride == 2) return make_pairs<2>(row, 2);
  make_pairs<0>(row, row.stride);
}

}  // namespace polychron::kernels::direct::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace polychron::kernels::direct {

HWY_EXPORT(convolve);
HWY_EXPORT(make_row);

void convolve_integers(const IntegerPixels& pixels) { HWY_DYNAMIC_DISPATCH(convolve)(pixels); }
void pack_integers(const IntegerRow& row) { HWY_DYNAMIC_DISPATCH(make_row)(row); }

}  // namespace polychron::kernels::direct
#endif
