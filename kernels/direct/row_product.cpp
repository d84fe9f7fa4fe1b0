// Written with Highway, which compiles this file once for each instruction set and chooses the
// processor's at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/direct/row_product.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <hwy/highway.h>

#include <array>
#include <utility>

#include "kernels/direct/row_product.hpp"
#include "kernels/direct/some_lanes.hpp"
#include "kernels/vectors.hpp"

HWY_BEFORE_NAMESPACE();
namespace polychron::kernels::direct::HWY_NAMESPACE {

using Real = hn::CappedTag<float, NormalTail::stretches>;
using Whole = hn::RebindToSigned<Real>;
using Reals = hn::Vec<Real>;

// With 32 registers: 14 rows by two vectors, as convolutions have, load more for each
// multiplication. (AVX-512: 197 to 212 GFLOP/s instead of 213 to 220.) NEON also has the elements
// of the rows in registers.
#if HWY_ARCH_ARM_A64
constexpr std::size_t most_rows_of_tile = 6, most_vectors = 3;
#elif HWY_TARGET <= HWY_AVX3
constexpr std::size_t most_rows_of_tile = 8, most_vectors = 3;
#else
constexpr std::size_t most_rows_of_tile = 4, most_vectors = 3;
#endif

RowTile row_tile() { return {most_rows_of_tile, most_vectors, hn::Lanes(Real())}; }

template <std::size_t Rows, std::size_t Vectors>
using Sums = Reals[Rows][Vectors];

/// Multiples of the stride between rows. An instruction can add one of these, times 1, 2, 4 or 8,
/// to an address, which reaches every one of eight rows.
struct Steps {
  std::size_t one, three, five, seven;
  explicit Steps(std::size_t step) : one(step), three(3 * step), five(5 * step), seven(7 * step) {}

  HWY_INLINE std::size_t times(std::size_t row) const {
    switch (row) {
      case 3:
        return three;
      case 5:
        return five;
      case 6:
        return 2 * three;
      case 7:
        return seven;
      default:
        return row * one;
    }
  }
};

/// Vector number `vector` of a row of `count` floats.
HWY_INLINE Reals load(const float* row, std::size_t count, std::size_t vector) {
  const std::size_t at = vector * hn::Lanes(Real());
  return load_some(Real(), row + at, count > at ? count - at : 0);
}
HWY_INLINE void store(Reals value, float* row, std::size_t count, std::size_t vector) {
  const std::size_t at = vector * hn::Lanes(Real());
  store_some(value, Real(), row + at, count > at ? count - at : 0);
}

template <std::size_t Rows, std::size_t Vectors>
HWY_INLINE void add_element(Sums<Rows, Vectors>& sums, const float* left, const Steps& steps,
                            const float* panel) {
  const Real d;
  Reals factors[Vectors];
  POLYCHRON_UNROLLED_LOOP
  for (std::size_t v = 0; v < Vectors; ++v) factors[v] = hn::LoadU(d, panel + v * hn::Lanes(d));
  POLYCHRON_UNROLLED_LOOP
  for (std::size_t r = 0; r < Rows; ++r) {
    const auto element = hn::Set(d, left[steps.times(r)]);
    POLYCHRON_UNROLLED_LOOP
    for (std::size_t v = 0; v < Vectors; ++v)
      sums[r][v] = hn::MulAdd(element, factors[v], sums[r][v]);
  }
}

template <std::size_t Rows, std::size_t Vectors>
HWY_INLINE void begin(const RowProduct& product, Sums<Rows, Vectors>& sums) {
  POLYCHRON_UNROLLED_LOOP
  for (std::size_t v = 0; v < Vectors; ++v) {
    const auto bias =
        product.bias == nullptr ? hn::Zero(Real()) : load(product.bias, product.columns, v);
    POLYCHRON_UNROLLED_LOOP
    for (std::size_t r = 0; r < Rows; ++r)
      sums[r][v] = product.continues
                       ? load(product.result + r * product.result_step, product.columns, v)
                       : bias;
  }
}

template <std::size_t Rows, std::size_t Vectors>
HWY_INLINE void finish(const RowProduct& product, const Sums<Rows, Vectors>& sums) {
  const Real d;
  const auto lowest = hn::Set(d, product.lowest), highest = hn::Set(d, product.highest);
  POLYCHRON_UNROLLED_LOOP
  for (std::size_t v = 0; v < Vectors; ++v) {
    POLYCHRON_UNROLLED_LOOP
    for (std::size_t r = 0; r < Rows; ++r) {
      auto sum = sums[r][v];
      if (product.ends) {
        if (product.added != nullptr)
          sum = hn::Add(sum, load(product.added + r * product.result_step, product.columns, v));
        sum = bounded(sum, lowest, highest);
      }
      store(sum, product.result + r * product.result_step, product.columns, v);
    }
  }
}

/// x * cdf(x) = 0.5 * x * (1 + erf(x / sqrt(2))). -infinity becomes NaN, as in that formula.
class Gelu {
 public:
  explicit HWY_INLINE Gelu(const NormalTail& tail) : tail_(tail) {}

  HWY_INLINE Reals operator()(Reals x) const {
    const Real d;
    const auto at = hn::Mul(hn::Abs(x), hn::Set(d, NormalTail::stretches / NormalTail::end));
    const auto inside = hn::Lt(at, hn::Set(d, NormalTail::stretches));
    const auto stretch = hn::ConvertTo(Whole(), hn::IfThenElseZero(inside, at));
    const auto t = hn::Sub(at, hn::ConvertTo(d, stretch));
    auto sum = coefficients(NormalTail::powers - 1, stretch);
    POLYCHRON_UNROLLED_LOOP
    for (std::size_t power = NormalTail::powers - 1; power-- > 0;)
      sum = hn::MulAdd(sum, t, coefficients(power, stretch));
    sum = hn::IfThenElseZero(inside, sum);
    const auto negative = hn::Lt(x, hn::Zero(d));
    return hn::Mul(x, hn::IfThenElse(negative, sum, hn::Sub(hn::Set(d, 1), sum)));
  }

 private:
  /// The coefficient of each lane's stretch. A vector may hold only some of them.
  HWY_INLINE Reals coefficients(std::size_t power, hn::Vec<Whole> stretch) const {
    const Real d;
    const Whole whole;
    const auto lanes = static_cast<std::int32_t>(hn::Lanes(d));
    const float* const all = tail_.factors[power].data();
    const auto lane = hn::IndicesFromVec(d, hn::And(stretch, hn::Set(whole, lanes - 1)));
    auto found = hn::TableLookupLanes(hn::Load(d, all), lane);
    for (std::int32_t first = lanes; first < std::int32_t{NormalTail::stretches}; first += lanes)
      found = hn::IfThenElse(hn::RebindMask(d, hn::Gt(stretch, hn::Set(whole, first - 1))),
                             hn::TableLookupLanes(hn::Load(d, all + first), lane), found);
    return found;
  }

  const NormalTail& tail_;
};

/// Applies gelu to results that were just stored. The program has this code once, not in each
/// instance of the product.
void apply_gelu(const RowProduct& product, std::size_t rows) {
  const Gelu gelu(*product.gelu);
  for (std::size_t v = 0; v < product.vectors; ++v)
    for (std::size_t r = 0; r < rows; ++r) {
      float* const result = product.result + r * product.result_step;
      store(gelu(load(result, product.columns, v)), result, product.columns, v);
    }
}

template <std::size_t Vectors, std::size_t Rows>
void multiply(const RowProduct& product) {
  const Real d;
  const Steps steps(product.left_step);
  Sums<Rows, Vectors> sums;
  begin<Rows, Vectors>(product, sums);
  if (product.ends && product.added != nullptr)
    for (std::size_t r = 0; r < Rows; ++r)
      for (std::size_t v = 0; v < Vectors; ++v)
        __builtin_prefetch(product.added + r * product.result_step + v * hn::Lanes(d));
  const float* next = product.fetch.from;
  const float *left = product.left, *panel = product.panel;
  for (std::size_t four = product.elements / elements_at_once; four > 0; --four) {
    fetch_lines(next, product.fetch);
    POLYCHRON_NOT_UNROLLED
    for (std::size_t k = 0; k < elements_at_once; ++k, ++left, panel += Vectors * hn::Lanes(d))
      add_element<Rows, Vectors>(sums, left, steps, panel);
  }
  for (std::size_t k = product.elements % elements_at_once; k > 0;
       --k, ++left, panel += Vectors * hn::Lanes(d))
    add_element<Rows, Vectors>(sums, left, steps, panel);
  finish<Rows, Vectors>(product, sums);
}

using Multiply = void (*)(const RowProduct&);
using ForRows = std::array<Multiply, most_rows_of_tile>;

template <std::size_t Vectors, std::size_t... Rows>
constexpr ForRows for_rows(std::index_sequence<Rows...>) {
  return {multiply<Vectors, Rows + 1>...};
}

template <std::size_t... Vectors>
constexpr std::array<ForRows, most_vectors> for_vectors(std::index_sequence<Vectors...>) {
  return {for_rows<Vectors + 1>(std::make_index_sequence<most_rows_of_tile>())...};
}

void multiply_any_rows(const RowProduct& product, std::size_t rows) {
  static constexpr auto ways = for_vectors(std::make_index_sequence<most_vectors>());
  ways[product.vectors - 1][rows - 1](product);
  if (product.ends && product.gelu != nullptr) apply_gelu(product, rows);
}

}  // namespace polychron::kernels::direct::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace polychron::kernels::direct {
namespace {

HWY_EXPORT(row_tile);
HWY_EXPORT(multiply_any_rows);

}  // namespace

const RowTile& RowTile::get() {
  static const RowTile tile = [] {
    kernels::vectors();  // limits Highway's choice
    return HWY_DYNAMIC_DISPATCH(row_tile)();
  }();
  return tile;
}

void multiply_rows(const RowProduct& product, std::size_t rows) {
  HWY_DYNAMIC_DISPATCH(multiply_any_rows)(product, rows);
}

}  // namespace polychron::kernels::direct
#endif
