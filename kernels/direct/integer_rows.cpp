// The loops of products of 8-bit integers. Written with Highway, which compiles this file once for
// each instruction set and chooses the processor's at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/direct/integer_rows.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <hwy/highway.h>

#include <array>
#include <cstring>
#include <type_traits>
#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

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
using Halves = hn::Repartition<std::int16_t, Sums>;
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
  sums = hn::ReorderWidenMulAccumulate(d, hn::BitCast(Halves(), hn::Set(d, both)), columns, sums,
                                       others);
  POLYCHRON_KEEP_SUM(sums);
#endif
}

/// The bytes of a narrow panel's columns times a row's, added in pairs: 255 times the sum of their
/// magnitudes fits 16 bits. 0 where there is no such instruction.
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_SSSE3
constexpr std::int32_t most_narrow_sum = 128;

HWY_INLINE hn::Vec<Halves> pair_sums(hn::Vec<Sums> row, hn::Vec<Sums> columns) {
#if HWY_TARGET <= HWY_AVX3
  return hn::Vec<Halves>{_mm512_maddubs_epi16(row.raw, columns.raw)};
#elif HWY_TARGET <= HWY_AVX2
  return hn::Vec<Halves>{_mm256_maddubs_epi16(row.raw, columns.raw)};
#else
  return hn::Vec<Halves>{_mm_maddubs_epi16(row.raw, columns.raw)};
#endif
}

HWY_INLINE void add_pair_sums(hn::Vec<Halves> pairs, hn::Vec<Sums>& sums) {
  auto none = hn::Zero(Sums());
  sums = hn::ReorderWidenMulAccumulate(Sums(), pairs, hn::Set(Halves(), 1), sums, none);
  POLYCHRON_KEEP_SUM(sums);
}

/// Adds four products of bytes to each sum, or two times four.
struct ByPairSums {
  static HWY_INLINE void add(hn::Vec<Sums> row, hn::Vec<Sums> columns, hn::Vec<Sums>& sums) {
    add_pair_sums(pair_sums(row, columns), sums);
  }
  static HWY_INLINE void add(hn::Vec<Sums> row, hn::Vec<Sums> columns, hn::Vec<Sums> other_row,
                             hn::Vec<Sums> other_columns, hn::Vec<Sums>& sums) {
    add_pair_sums(hn::Add(pair_sums(row, columns), pair_sums(other_row, other_columns)), sums);
  }
};
#else
constexpr std::int32_t most_narrow_sum = 0;
#endif

/// Some processors have an instruction that adds four products of bytes in 32 bits: then every
/// panel is narrow. Highway 1.0.3 does not have it.
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
bool find_four_products() {
#if HWY_TARGET <= HWY_AVX3
  return __builtin_cpu_supports("avx512vnni") != 0;
#else
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0 && (a >> 4 & 1) != 0;  // AVX-VNNI
#endif
}
HWY_INLINE void add_four_products(hn::Vec<Sums> row, hn::Vec<Sums> columns, hn::Vec<Sums>& sums) {
#if HWY_TARGET <= HWY_AVX3
  asm("vpdpbusd %2, %1, %0" : "+v"(sums.raw) : "v"(row.raw), "v"(columns.raw));
#else
  asm("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sums.raw) : "x"(row.raw), "x"(columns.raw));
#endif
}
#elif HWY_ARCH_ARM_A64
bool find_four_products() { return (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0; }
HWY_INLINE void add_four_products(hn::Vec<Sums> row, hn::Vec<Sums> columns, hn::Vec<Sums>& sums) {
  asm(".arch armv8.2-a+crypto+dotprod\n\tsdot %0.4s, %1.16b, %2.16b"
      : "+w"(sums.raw)
      : "w"(row.raw), "w"(columns.raw));
}
#else
bool find_four_products() { return false; }
HWY_INLINE void add_four_products(hn::Vec<Sums>, hn::Vec<Sums>, hn::Vec<Sums>&) {}
#endif

struct ByFours {
  static HWY_INLINE void add(hn::Vec<Sums> row, hn::Vec<Sums> columns, hn::Vec<Sums>& sums) {
    add_four_products(row, columns, sums);
  }
  static HWY_INLINE void add(hn::Vec<Sums> row, hn::Vec<Sums> columns, hn::Vec<Sums> other_row,
                             hn::Vec<Sums> other_columns, hn::Vec<Sums>& sums) {
    add_four_products(row, columns, sums);
    add_four_products(other_row, other_columns, sums);
  }
};

bool has_four_products() {
  static const bool there = find_four_products();
  return there;
}

/// Bytes of a narrow panel's rows, as the instructions take them.
using RowByte = std::conditional_t<HWY_ARCH_ARM_A64 != 0, std::int8_t, std::uint8_t>;

std::int32_t offset_of_bytes(bool are_signed) {
  if (are_signed == std::is_signed_v<RowByte>) return 0;
  return are_signed ? 128 : -128;
}

std::int32_t narrow_sum() { return has_four_products() ? 2 * 128 : most_narrow_sum; }

template <std::size_t Rows>
using TileSums = hn::Vec<Sums>[Rows][vectors_of_panel];

/// The sums of a vector of columns from `column` on, as their type has them in 32 bits.
HWY_INLINE hn::Vec<Sums> finished(const IntegerTiles& tiles, std::size_t column,
                                  hn::Vec<Sums> sum) {
  if (tiles.type == DataType::int32) return sum;
  const Sums d;
  const Reals real;
  const auto product = hn::Mul(hn::ConvertTo(real, sum), hn::LoadU(real, tiles.factors + column));
  const auto x = hn::Add(product, hn::LoadU(real, tiles.summands + column));
  if (tiles.type == DataType::float32) return hn::BitCast(d, x);
  return quantized(x, hn::LoadU(real, tiles.scales + column),
                   hn::LoadU(d, tiles.result_zeros + column), tiles.type == DataType::int8);
}

/// Stores the sums of `Rows` rows from `first` on.
template <std::size_t Rows>
HWY_INLINE void store_rows(const IntegerTiles& tiles, std::size_t first,
                           const TileSums<Rows>& sums) {
  const Sums d;
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t bytes = byte_size(tiles.type);
  HWY_ALIGN std::byte results[most_integer_columns * sizeof(std::int32_t)];
  POLYCHRON_UNROLLED_LOOP
  for (std::size_t r = 0; r < Rows; ++r) {
    const auto row_sum = hn::Set(d, tiles.row_sums[first + r]);
    POLYCHRON_UNROLLED_LOOP
    for (std::size_t v = 0; v < vectors_of_panel; ++v) {
      const auto zeros = hn::LoadU(d, tiles.zeros + v * lanes);
      const auto sum = hn::Sub(sums[r][v], hn::Mul(row_sum, zeros));
      store_results(tiles.type, finished(tiles, v * lanes, sum), results + v * lanes * bytes);
    }
    std::memcpy(tiles.results + (first + r) * tiles.step * bytes, results, tiles.columns * bytes);
  }
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
    const auto value = static_cast<RowByte>(from[i] + offset);
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
HWY_EXPORT(has_four_products);
HWY_EXPORT(multiply);
HWY_EXPORT(widen_signed);
HWY_EXPORT(widen_unsigned);
HWY_EXPORT(offset_of_bytes);
HWY_EXPORT(copy);

std::size_t integer_columns() { return HWY_DYNAMIC_DISPATCH(panel_columns)(); }
std::int32_t most_of_narrow_sum() { return HWY_DYNAMIC_DISPATCH(narrow_sum)(); }
bool adds_four_products() {
  kernels::vectors();  // limits Highway's choice
  return HWY_DYNAMIC_DISPATCH(has_four_products)();
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
