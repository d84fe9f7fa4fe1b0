// The loops of products of 8-bit integers. Written with Highway, which compiles this file once for
// each instruction set and chooses the processor's at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/direct/integer_rows.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <hwy/highway.h>

#include <array>
#include <cstring>

#include "kernels/direct/integer_fours.hpp"
#include "kernels/direct/integer_panels.hpp"
#include "kernels/direct/integer_results.hpp"
#include "kernels/vectors.hpp"

HWY_BEFORE_NAMESPACE();
namespace polychron::kernels::direct::HWY_NAMESPACE {

constexpr std::size_t vectors_of_panel = 2;

std::size_t panel_columns() { return vectors_of_panel * hn::Lanes(Sums()); }

/// Pairs of as many columns as a vector has sums.
#if HWY_TARGET == HWY_SCALAR
using Pairs = std::array<std::int8_t, 2>;
#else
using Pairs = hn::Vec<Halves>;
#endif

HWY_INLINE Pairs widened(const std::int8_t* columns) {
#if HWY_TARGET == HWY_SCALAR
  return {columns[0], columns[1]};
#else
  return hn::PromoteTo(Halves(), hn::LoadU(hn::Rebind<std::int8_t, Halves>(), columns));
#endif
}

/// Adds the products of a row's pair with the columns' pairs. Some processors add one product of
/// each pair to `sums`, the other one to `others`.
HWY_INLINE void add_products(const std::int16_t* pair, const Pairs& columns, hn::Vec<Sums>& sums,
                             hn::Vec<Sums>& others) {
  const Sums d;
#if HWY_TARGET == HWY_SCALAR
  sums = hn::Add(sums, hn::Set(d, pair[0] * columns[0] + pair[1] * columns[1]));
  static_cast<void>(others);
#else
  std::int32_t both = 0;
  std::memcpy(&both, pair, sizeof(both));
  auto sum = hn::ReorderWidenMulAccumulate(d, hn::BitCast(Halves(), hn::Set(d, both)), columns,
                                           sums, others);
  POLYCHRON_KEEP_SUM(sum);
  sums = sum;
#endif
}

template <std::size_t Rows>
using TileSums = hn::Vec<Sums>[Rows][vectors_of_panel];

/// How the sums of a vector of columns from `column` on become results.
HWY_INLINE Ending ending_of(const IntegerTiles& tiles, std::size_t column) {
  const Reals real;
  Ending ending{.type = tiles.type};
  if (tiles.type == DataType::int32) return ending;
  ending.factor = hn::LoadU(real, tiles.factors + column);
  ending.summand = hn::LoadU(real, tiles.summands + column);
  if (tiles.type == DataType::float32) return ending;
  ending.scale = hn::LoadU(real, tiles.scales + column);
  ending.zero = hn::LoadU(Sums(), tiles.result_zeros + column);
  return ending;
}

/// Stores the sums of `Rows` rows from `first` on.
template <std::size_t Rows>
HWY_INLINE void store_rows(const IntegerTiles& tiles, std::size_t first,
                           const TileSums<Rows>& sums) {
  const Sums d;
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t bytes = byte_size(tiles.type);
  HWY_ALIGN std::byte results[Rows][most_integer_columns * sizeof(std::int32_t)];
  POLYCHRON_UNROLLED_LOOP
  for (std::size_t v = 0; v < vectors_of_panel; ++v) {
    const auto zeros = hn::LoadU(d, tiles.zeros + v * lanes);
    const Ending ending = ending_of(tiles, v * lanes);
    POLYCHRON_UNROLLED_LOOP
    for (std::size_t r = 0; r < Rows; ++r) {
      const auto row_sum = hn::Set(d, tiles.row_sums[first + r]);
      const auto sum = hn::Sub(sums[r][v], hn::Mul(row_sum, zeros));
      store_results(ending.type, finished(ending, sum), results[r] + v * lanes * bytes);
    }
  }
  for (std::size_t r = 0; r < Rows; ++r)
    std::memcpy(tiles.results + (first + r) * tiles.step * bytes, results[r],
                tiles.columns * bytes);
}

template <std::size_t Rows>
HWY_INLINE void multiply_rows(const IntegerTiles& tiles, std::size_t first) {
  const Sums d;
  const std::size_t lanes = hn::Lanes(d), count = tiles.pairs, step = 2 * count;
  const std::int16_t* const rows = tiles.rows + first * step;
  const std::int8_t* panel = tiles.panel;
  TileSums<Rows> sums, others;
  POLYCHRON_UNROLLED_LOOP
  for (std::size_t r = 0; r < Rows; ++r) {
    sums[r][0] = sums[r][1] = others[r][0] = others[r][1] = hn::Zero(d);
  }
  for (std::size_t pair = 0; pair < count; pair += pairs_at_once) {
    POLYCHRON_UNROLLED_LOOP
    for (std::size_t i = 0; i < pairs_at_once; ++i, panel += 2 * vectors_of_panel * lanes) {
      const Pairs left = widened(panel), right = widened(panel + 2 * lanes);
      POLYCHRON_UNROLLED_LOOP
      for (std::size_t r = 0; r < Rows; ++r) {
        const std::int16_t* const x = rows + r * step + 2 * (pair + i);
        add_products(x, left, sums[r][0], others[r][0]);
        add_products(x, right, sums[r][1], others[r][1]);
      }
    }
  }
  POLYCHRON_UNROLLED_LOOP
  for (std::size_t r = 0; r < Rows; ++r) {
    sums[r][0] = hn::RearrangeToOddPlusEven(sums[r][0], others[r][0]);
    sums[r][1] = hn::RearrangeToOddPlusEven(sums[r][1], others[r][1]);
  }
  store_rows<Rows>(tiles, first, sums);
}

#if HWY_TARGET != HWY_SCALAR
HWY_INLINE hn::Vec<Sums> four_of(const std::byte* row) {
  std::int32_t four = 0;
  std::memcpy(&four, row, sizeof(four));
  return hn::Set(Sums(), four);
}

template <std::size_t Rows, class Instructions>
HWY_INLINE void multiply_narrow_rows(const IntegerTiles& tiles, std::size_t first) {
  const Sums d;
  const hn::Repartition<std::int8_t, Sums> bytes;
  const std::size_t lanes = hn::Lanes(d), step = 2 * tiles.pairs;
  const std::byte* const rows = tiles.narrow_rows + first * step;
  const std::int8_t* panel = tiles.panel;
  TileSums<Rows> sums;
  POLYCHRON_UNROLLED_LOOP
  for (std::size_t r = 0; r < Rows; ++r) {
    const auto zero = hn::Set(d, -tiles.row_zeros[first + r]);
    sums[r][0] = hn::Mul(zero, hn::LoadU(d, tiles.sums));
    sums[r][1] = hn::Mul(zero, hn::LoadU(d, tiles.sums + lanes));
  }
  const auto columns = [&](std::size_t v) HWY_ATTR {
    return hn::BitCast(d, hn::LoadU(bytes, panel + v * 4 * lanes));
  };
  std::size_t i = 0;
  for (; i < tiles.doubled; i += 2, panel += 8 * vectors_of_panel * lanes) {
    const auto a_left = columns(0), a_right = columns(1), b_left = columns(2), b_right = columns(3);
    const std::byte *const a = rows + 4 * tiles.fours[i], *const b = rows + 4 * tiles.fours[i + 1];
    POLYCHRON_UNROLLED_LOOP
    for (std::size_t r = 0; r < Rows; ++r) {
      const auto x = four_of(a + r * step), y = four_of(b + r * step);
      Instructions::add(x, a_left, y, b_left, sums[r][0]);
      Instructions::add(x, a_right, y, b_right, sums[r][1]);
    }
  }
  for (; i < tiles.steps; ++i, panel += 4 * vectors_of_panel * lanes) {
    const auto left = columns(0), right = columns(1);
    const std::byte* const four = rows + 4 * tiles.fours[i];
    POLYCHRON_UNROLLED_LOOP
    for (std::size_t r = 0; r < Rows; ++r) {
      const auto x = four_of(four + r * step);
      Instructions::add(x, left, sums[r][0]);
      Instructions::add(x, right, sums[r][1]);
    }
  }
  store_rows<Rows>(tiles, first, sums);
}
#endif

template <std::size_t Rows>
HWY_INLINE void multiply_any_rows(const IntegerTiles& tiles, std::size_t first) {
  if (tiles.fours == nullptr) return multiply_rows<Rows>(tiles, first);
#if HWY_TARGET != HWY_SCALAR
  if (has_four_products()) return multiply_narrow_rows<Rows, ByFours>(tiles, first);
#endif
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_SSSE3
  multiply_narrow_rows<Rows, ByPairSums>(tiles, first);
#endif
}

void multiply(const IntegerTiles& tiles) {
  std::size_t row = 0;
  for (; row + most_integer_rows <= tiles.count; row += most_integer_rows)
    multiply_any_rows<most_integer_rows>(tiles, row);
  switch (tiles.count - row) {
    case 3:
      return multiply_any_rows<3>(tiles, row);
    case 2:
      return multiply_any_rows<2>(tiles, row);
    case 1:
      return multiply_any_rows<1>(tiles, row);
    default:
      return;
  }
}

/// Subtracts `zero` from each element. Returns their sum.
template <class T>
HWY_INLINE std::int32_t widen(const T* elements, std::size_t count, std::int32_t zero,
                              std::int16_t* to) {
  std::int32_t sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int32_t difference = elements[i] - zero;
    to[i] = static_cast<std::int16_t>(difference);
    sum += difference;
  }
  return sum;
}

std::int32_t widen_signed(const std::byte* elements, std::size_t count, std::int32_t zero,
                          std::int16_t* to) {
  return widen(reinterpret_cast<const std::int8_t*>(elements), count, zero, to);
}
std::int32_t widen_unsigned(const std::byte* elements, std::size_t count, std::int32_t zero,
                            std::int16_t* to) {
  return widen(reinterpret_cast<const std::uint8_t*>(elements), count, zero, to);
}

/// Copies bytes plus an offset. Returns their sum.
std::int32_t copy(const std::byte* elements, std::size_t count, std::int32_t offset,
                  std::byte* to) {
  const auto* const from = reinterpret_cast<const std::uint8_t*>(elements);
  std::int32_t sum = 0;
  POLYCHRON_INDEPENDENT_STEPS
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = static_cast<DataByte>(from[i] + offset);
    to[i] = static_cast<std::byte>(value);
    sum += value;
  }
  return sum;
}

}  // namespace polychron::kernels::direct::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace polychron::kernels::direct {

HWY_EXPORT(panel_columns);
HWY_EXPORT(narrow_sum);
HWY_EXPORT(multiply);
HWY_EXPORT(widen_signed);
HWY_EXPORT(widen_unsigned);
HWY_EXPORT(offset_of_bytes);
HWY_EXPORT(copy);

std::size_t integer_columns() {
  kernels::vectors();  // limits Highway's choice
  return HWY_DYNAMIC_DISPATCH(panel_columns)();
}
std::int32_t most_of_narrow_sum() {
  kernels::vectors();
  return HWY_DYNAMIC_DISPATCH(narrow_sum)();
}
void multiply_integers(const IntegerTiles& tiles) { HWY_DYNAMIC_DISPATCH(multiply)(tiles); }
std::int32_t widen_row(const std::byte* elements, std::size_t count, std::int32_t zero,
                       bool is_signed, std::int16_t* to) {
  return is_signed ? HWY_DYNAMIC_DISPATCH(widen_signed)(elements, count, zero, to)
                   : HWY_DYNAMIC_DISPATCH(widen_unsigned)(elements, count, zero, to);
}
std::int32_t offset_of_row(bool is_signed) {
  return HWY_DYNAMIC_DISPATCH(offset_of_bytes)(is_signed);
}
std::int32_t copy_row(const std::byte* elements, std::size_t count, std::int32_t offset,
                      std::byte* to) {
  return HWY_DYNAMIC_DISPATCH(copy)(elements, count, offset, to);
}

}  // namespace polychron::kernels::direct
#endif
