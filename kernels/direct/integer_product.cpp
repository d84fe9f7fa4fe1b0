// Products of 8-bit integers with a constant matrix, exact in int32. They may end as float32, times
// a factor and plus a summand. Written with Highway, which compiles this file once for each
// instruction set and chooses the processor's at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/direct/integer_product.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/kept_once.hpp"
#include "kernels/direct/direct.hpp"
#include "kernels/direct/integer_panels.hpp"
#include "kernels/direct/parts_bound.hpp"
#include "kernels/integer_product.hpp"
#include "kernels/parts.hpp"
#include "kernels/vectors.hpp"

HWY_BEFORE_NAMESPACE();
namespace polychron::kernels::direct::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Sums = hn::ScalableTag<std::int32_t>;
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

/// The bytes of a narrow panel's columns times a row's, added in pairs: with 255 times the sum of
/// two magnitudes at most, no pair exceeds 16 bits. 0 where there is no such instruction.
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_SSSE3
constexpr std::int32_t most_narrow_pair = 128;

HWY_INLINE hn::Vec<Halves> pair_sums(hn::Vec<Sums> row, hn::Vec<Sums> columns) {
#if HWY_TARGET <= HWY_AVX3
  return hn::Vec<Halves>{_mm512_maddubs_epi16(row.raw, columns.raw)};
#elif HWY_TARGET <= HWY_AVX2
  return hn::Vec<Halves>{_mm256_maddubs_epi16(row.raw, columns.raw)};
#else
  return hn::Vec<Halves>{_mm_maddubs_epi16(row.raw, columns.raw)};
#endif
}
#else
constexpr std::int32_t most_narrow_pair = 0;
#endif

std::int32_t narrow_pair() { return most_narrow_pair; }

template <std::size_t Rows>
using TileSums = hn::Vec<Sums>[Rows][vectors_of_panel];

/// Stores the sums of `Rows` rows from `first` on, or one number for each row and column if they
/// are real.
template <std::size_t Rows>
HWY_INLINE void store_rows(const IntegerTiles& tiles, std::size_t first,
                           const TileSums<Rows>& sums) {
  const Sums d;
  const std::size_t lanes = hn::Lanes(d);
  HWY_ALIGN std::int32_t results[most_integer_columns];
  POLYCHRON_UNROLLED_LOOP
  for (std::size_t r = 0; r < Rows; ++r) {
    const auto row_sum = hn::Set(d, tiles.row_sums[first + r]);
    POLYCHRON_UNROLLED_LOOP
    for (std::size_t v = 0; v < vectors_of_panel; ++v) {
      const auto zeros = hn::LoadU(d, tiles.zeros + v * lanes);
      auto sum = hn::Sub(sums[r][v], hn::Mul(row_sum, zeros));
      if (tiles.factors != nullptr) {
        const hn::RebindToFloat<Sums> real;
        const auto product =
            hn::Mul(hn::ConvertTo(real, sum), hn::LoadU(real, tiles.factors + v * lanes));
        sum = hn::BitCast(d, hn::Add(product, hn::LoadU(real, tiles.summands + v * lanes)));
      }
      hn::StoreU(sum, d, results + v * lanes);
    }
    std::memcpy(tiles.results + (first + r) * tiles.step * sizeof(std::int32_t), results,
                tiles.columns * sizeof(std::int32_t));
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

template <std::size_t Rows>
HWY_INLINE void multiply_narrow_rows(const IntegerTiles& tiles, std::size_t first) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_SSSE3
  const Sums d;
  const hn::Repartition<std::int8_t, Sums> bytes;
  const auto ones = hn::Set(Halves(), 1);
  const std::size_t lanes = hn::Lanes(d), step = 2 * tiles.pairs;
  const std::uint8_t* const rows = tiles.narrow_rows + first * step;
  const std::int8_t* panel = tiles.panel;
  TileSums<Rows> sums;
  POLYCHRON_UNROLLED_LOOP
  for (std::size_t r = 0; r < Rows; ++r) {
    const auto zero = hn::Set(d, -tiles.row_zeros[first + r]);
    sums[r][0] = hn::Mul(zero, hn::LoadU(d, tiles.sums));
    sums[r][1] = hn::Mul(zero, hn::LoadU(d, tiles.sums + lanes));
  }
  const auto add = [&](hn::Vec<Sums> row, hn::Vec<Sums> columns, hn::Vec<Sums>& sum) {
    auto none = hn::Zero(d);
    sum = hn::ReorderWidenMulAccumulate(d, pair_sums(row, columns), ones, sum, none);
    POLYCHRON_KEEP_SUM(sum);
  };
  for (std::size_t i = 0; i < step; i += 4, panel += 4 * vectors_of_panel * lanes) {
    const auto left = hn::BitCast(d, hn::LoadU(bytes, panel));
    const auto right = hn::BitCast(d, hn::LoadU(bytes, panel + 4 * lanes));
    POLYCHRON_UNROLLED_LOOP
    for (std::size_t r = 0; r < Rows; ++r) {
      std::int32_t four = 0;
      std::memcpy(&four, rows + r * step + i, sizeof(four));
      const auto row = hn::Set(d, four);
      add(row, left, sums[r][0]);
      add(row, right, sums[r][1]);
    }
  }
  store_rows<Rows>(tiles, first, sums);
#else
  multiply_rows<Rows>(tiles, first);
#endif
}

template <std::size_t Rows>
HWY_INLINE void multiply_any_rows(const IntegerTiles& tiles, std::size_t first) {
  tiles.narrow ? multiply_narrow_rows<Rows>(tiles, first) : multiply_rows<Rows>(tiles, first);
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

/// Copies elements with some bits flipped. Returns their sum.
std::int32_t copy(const std::uint8_t* elements, std::size_t count, std::uint8_t flipped,
                  std::uint8_t* to) {
  std::int32_t sum = 0;
  POLYCHRON_INDEPENDENT_STEPS
  for (std::size_t i = 0; i < count; ++i) {
    to[i] = elements[i] ^ flipped;
    sum += elements[i] ^ flipped;
  }
  return sum;
}

}  // namespace polychron::kernels::direct::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace polychron::kernels::direct {
namespace {

HWY_EXPORT(panel_columns);
HWY_EXPORT(narrow_pair);
HWY_EXPORT(multiply);
HWY_EXPORT(widen_signed);
HWY_EXPORT(widen_unsigned);
HWY_EXPORT(copy);

/// A part: some rows by some panels.
struct Share {
  std::size_t first_row, last_row;
  std::size_t first_panel, last_panel;
  std::size_t worker;
};

std::int32_t integer_at(const std::byte* elements, std::size_t i, bool is_signed) {
  const auto value = std::to_integer<std::uint8_t>(elements[i]);
  return is_signed ? static_cast<std::int8_t>(value) : std::int32_t{value};
}

class IntegerProduct final : public Kernel {
 public:
  IntegerProduct(const IntegerOperands& operands, const Problem& problem)
      : o_(operands),
        pairs_((o_.elements + 2 * pairs_at_once - 1) / (2 * pairs_at_once) * pairs_at_once),
        width_(HWY_DYNAMIC_DISPATCH(panel_columns)()) {
    const std::size_t panels = (o_.columns + width_ - 1) / width_;
    pack(problem.inputs[1], panels);
    zeros_.assign(panels * width_, 0);
    const Slot& zero = problem.inputs[3];
    for (std::size_t i = 0; i < o_.columns; ++i) {
      const std::size_t at = o_.one_zero ? 0 : i;
      const auto point = zero.present ? integer_at(zero.constant->data(), at, o_.right_signed) : 0;
      zeros_[i] = point - offset();
    }
    divide(panels);
    // The rows that stay in a core's second-level cache while all panels pass.
    constexpr std::size_t own = std::size_t{128} << 10;
    const std::size_t groups = own / (row_bytes() * most_integer_rows);
    block_ = std::min(std::max<std::size_t>(groups, 1) * most_integer_rows, o_.rows);
    worker_bytes_ = (block_ * row_bytes() + 63) / 64 * 64;
  }

  std::size_t parts() const noexcept override { return shares_.size(); }
  std::size_t scratch_bytes() const noexcept override { return parts() * worker_bytes_; }
  void add_constants(Constants& constants) const override { constants.push_back(panels_); }
  bool keeps_constant(std::size_t index) const noexcept override {
    return index == 1 || index == 3;
  }
  std::unique_ptr<Bound> bind(const Arguments& arguments) const override {
    return std::make_unique<PartsBound<IntegerProduct, const Arguments&>>(*this, arguments);
  }

  Share whole() const { return {0, o_.rows, 0, zeros_.size() / width_, 0}; }
  const Share& share(std::size_t part) const { return shares_[part]; }
  std::span<const std::byte> read_first(const Share&) const noexcept { return {}; }

  void compute(const Share& share, const Arguments& arguments, std::span<const std::byte>) const {
    const Scratch rows(arguments.scratch + share.worker * worker_bytes_, *this);
    for (std::size_t first = share.first_row; first < share.last_row; first += block_) {
      const std::size_t count = std::min(block_, share.last_row - first);
      for (std::size_t r = 0; r < count; ++r) write_row(first + r, arguments, rows, r);
      for (std::size_t panel = share.first_panel; panel < share.last_panel; ++panel)
        multiply_panel(panel, first, count, rows, arguments);
    }
  }

 private:
  /// Rows as the panels need them, and two numbers of each.
  struct Scratch {
    std::int32_t *sums, *zeros;
    std::int16_t* wide;
    std::uint8_t* narrow;
    Scratch(std::byte* at, const IntegerProduct& product)
        : sums(reinterpret_cast<std::int32_t*>(at)),
          zeros(sums + product.block_),
          wide(reinterpret_cast<std::int16_t*>(zeros + product.block_)),
          narrow(reinterpret_cast<std::uint8_t*>(
              wide + (product.any_wide_ ? product.block_ * 2 * product.pairs_ : 0))) {}
  };
  std::size_t row_bytes() const {
    return 2 * sizeof(std::int32_t) +
           2 * pairs_ * ((any_wide_ ? sizeof(std::int16_t) : 0) + (any_narrow_ ? 1 : 0));
  }
  /// Unsigned elements of the matrix are kept minus 128, as signed ones.
  std::int32_t offset() const { return o_.right_signed ? 0 : 128; }

  void pack(const Slot& matrix, std::size_t panels) {
    const std::int32_t most = HWY_DYNAMIC_DISPATCH(narrow_pair)();
    Buffer bytes(panels * width_ * pairs_ * 2);
    sums_.assign(panels * width_, 0);
    const auto steps = steps_of(matrix);
    std::vector<std::int8_t> panel(width_ * pairs_ * 2);  // row after row
    for (std::size_t p = 0; p < panels; ++p) {
      std::ranges::fill(panel, std::int8_t{0});
      const std::size_t first = p * width_, columns = std::min(width_, o_.columns - first);
      for (std::size_t row = 0; row < o_.elements; ++row)
        for (std::size_t column = 0; column < columns; ++column) {
          const auto from = static_cast<std::int64_t>(row) * steps[0] +
                            static_cast<std::int64_t>(first + column) * steps[1];
          const std::int32_t element =
              integer_at(matrix.constant->data(), static_cast<std::size_t>(from), o_.right_signed) -
              offset();
          panel[row * width_ + column] = static_cast<std::int8_t>(element);
          sums_[first + column] += element;
        }
      std::int32_t largest = 0;
      for (std::size_t i = 0; i < panel.size(); i += 2 * width_)
        for (std::size_t k = i; k < i + width_; ++k)
          largest = std::max(largest, std::abs(panel[k]) + std::abs(panel[k + width_]));
      const bool narrow = largest <= most;
      narrow_.push_back(narrow);
      (narrow ? any_narrow_ : any_wide_) = true;
      const std::size_t together = narrow ? 4 : 2;
      auto* to = bytes.as<std::int8_t>().data() + first * pairs_ * 2;
      for (std::size_t i = 0; i < panel.size(); i += together * width_)
        for (std::size_t k = 0; k < width_; ++k)
          for (std::size_t row = 0; row < together; ++row) *to++ = panel[i + row * width_ + k];
    }
    panels_ = kept_once(std::make_shared<const Buffer>(std::move(bytes)));
  }

  void divide(std::size_t panels) {
    const double operations =
        2.0 * static_cast<double>(o_.rows * o_.elements) * static_cast<double>(o_.columns);
    // Every part reads all of one operand: the matrix, or the rows.
    const std::size_t groups = (o_.rows + most_integer_rows - 1) / most_integer_rows;
    const bool by_rows = o_.columns <= o_.rows && groups >= 2 * usual_parts;
    const std::size_t units = by_rows ? groups : panels;
    const std::size_t parts = parts_of(operations / operations_per_ns, units);
    for (std::size_t i = 0; i < parts; ++i) {
      const std::size_t begin = units * i / parts, end = units * (i + 1) / parts;
      shares_.push_back(by_rows ? Share{begin * most_integer_rows,
                                        std::min(end * most_integer_rows, o_.rows), 0, panels, i}
                                : Share{0, o_.rows, begin, end, i});
    }
  }

  /// Writes a row of the left operand as row `at` of the scratch memory.
  void write_row(std::size_t row, const Arguments& arguments, const Scratch& to,
                 std::size_t at) const {
    const std::byte* const zeros = arguments.inputs[2];
    const std::int32_t zero =
        zeros == nullptr ? 0 : integer_at(zeros, row % o_.row_zeros, o_.left_signed);
    const std::byte* const from = arguments.inputs[0] + row * o_.elements;
    const std::size_t length = 2 * pairs_;
    if (any_narrow_) {
      const std::uint8_t flipped = o_.left_signed ? 128 : 0;
      std::uint8_t* const narrow = to.narrow + at * length;
      std::fill(narrow + o_.elements, narrow + length, std::uint8_t{0});
      to.zeros[at] = zero + flipped;
      to.sums[at] =
          HWY_DYNAMIC_DISPATCH(copy)(reinterpret_cast<const std::uint8_t*>(from), o_.elements,
                                     flipped, narrow) -
          static_cast<std::int32_t>(o_.elements) * to.zeros[at];
    }
    if (any_wide_) {
      std::int16_t* const wide = to.wide + at * length;
      std::fill(wide + o_.elements, wide + length, std::int16_t{0});
      to.sums[at] = o_.left_signed
                        ? HWY_DYNAMIC_DISPATCH(widen_signed)(from, o_.elements, zero, wide)
                        : HWY_DYNAMIC_DISPATCH(widen_unsigned)(from, o_.elements, zero, wide);
    }
  }

  void multiply_panel(std::size_t panel, std::size_t first_row, std::size_t count,
                      const Scratch& rows, const Arguments& arguments) const {
    std::array<float, most_integer_columns> factors, summands;
    const std::size_t column = panel * width_, columns = std::min(width_, o_.columns - column);
    IntegerTiles tiles{
        .count = count,
        .pairs = pairs_,
        .rows = rows.wide,
        .narrow_rows = rows.narrow,
        .row_sums = rows.sums,
        .row_zeros = rows.zeros,
        .narrow = narrow_[panel],
        .panel = reinterpret_cast<const std::int8_t*>(panels_->data()) + column * pairs_ * 2,
        .sums = sums_.data() + column,
        .zeros = zeros_.data() + column,
        .results =
            arguments.outputs[0] + (first_row * o_.columns + column) * sizeof(std::int32_t),
        .step = o_.columns,
        .columns = columns};
    if (o_.real) {
      factors.fill(o_.factor);
      summands.fill(-0.0F);  // which changes nothing; +0 would change -0
      take(o_.factors, column, columns, arguments, factors.data());
      take(o_.summands, column, columns, arguments, summands.data());
      tiles.factors = factors.data();
      tiles.summands = summands.data();
    }
    HWY_DYNAMIC_DISPATCH(multiply)(tiles);
  }

  /// The numbers of an input for columns [first, first + count).
  static void take(const IntegerOperands::ForColumns& of, std::size_t first, std::size_t count,
                   const Arguments& arguments, float* to) {
    if (of.input == 0) return;
    const auto* const numbers = reinterpret_cast<const float*>(arguments.inputs[of.input]);
    if (of.one)
      std::fill_n(to, count, *numbers);
    else
      std::copy_n(numbers + first, count, to);
  }

  const IntegerOperands o_;
  const std::size_t pairs_, width_;  ///< of each column, columns of a panel
  KeptBytes panels_;
  std::vector<std::int32_t> sums_, zeros_;  ///< of the panels' columns
  std::vector<bool> narrow_;                ///< of the panels
  bool any_narrow_ = false, any_wide_ = false;
  std::vector<Share> shares_;
  std::size_t block_ = 0, worker_bytes_ = 0;
};

}  // namespace

KernelResult prepare_integer_product(const Problem& problem) {
  const auto operands = integer_operands(problem);
  if (!operands) return refuse("not a product of integers as our own loops take it");
  return KernelResult(std::make_unique<IntegerProduct>(*operands, problem));
}

}  // namespace polychron::kernels::direct
#endif
