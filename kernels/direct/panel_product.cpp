// Written with Highway, which compiles this file once for each instruction set and chooses the
// processor's at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/direct/panel_product.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <utility>

#include "kernels/direct/panel_product.hpp"
#include "kernels/direct/picture_vectors.hpp"

HWY_BEFORE_NAMESPACE();
namespace polychron::kernels::direct::HWY_NAMESPACE {

// NEON has the sums of four vectors for each row.
constexpr std::size_t most_rows_of_panel = has_wide_blocks ? 14 : 6;
static_assert(most_rows_of_panel <= any_rows);

std::size_t rows_of_panel() { return most_rows_of_panel; }

#if POLYCHRON_FUSED_TARGET

/// The distance of prefetches, in blocks of elements: about 600 cycles with AVX-512.
constexpr std::size_t ahead = 3;

alignas(64) constexpr std::array<float, block_floats> zeros{};

template <std::size_t Rows, std::size_t Columns>
using Sums = Reals[Rows][Columns * vectors_of_block];

/// Adds the products of `fours` groups of four elements. `row(r)` is where the elements of row r
/// begin.
template <std::size_t Rows, std::size_t Columns, class Row>
HWY_INLINE void add_block(Sums<Rows, Columns>& sums, const Row& row, const float*& panel,
                          std::size_t fours, const float*& next_panel,
                          const PanelProduct& product) {
  constexpr std::size_t vectors = Columns * vectors_of_block;
  const Real d;
  for (std::size_t four = 0; four < fours; ++four) {
    fetch_lines(next_panel, product.fetch);
    POLYCHRON_NOT_UNROLLED
    for (std::size_t k = 0; k < elements_at_once; ++k, panel += Columns * block_floats) {
      Reals factors[vectors];  // unaligned: equal constants share one owner's memory
      POLYCHRON_UNROLLED_LOOP
      for (std::size_t v = 0; v < vectors; ++v) factors[v] = hn::LoadU(d, panel + v * lanes);
      POLYCHRON_UNROLLED_LOOP
      for (std::size_t r = 0; r < Rows; ++r) {
        const auto element = hn::Set(d, row(r)[four * elements_at_once + k]);
        POLYCHRON_UNROLLED_LOOP
        for (std::size_t v = 0; v < vectors; ++v)
          sums[r][v] = hn::MulAdd(element, factors[v], sums[r][v]);
      }
    }
  }
}

/// Walks through the left operands, block by block, ahead of the multiplication.
template <std::size_t Rows, std::size_t Step>
class Lookahead {
 public:
  HWY_INLINE Lookahead(const PanelProduct& product, std::size_t blocks)
      : product_(product), blocks_(blocks), tap_(product.taps.data()), left_(tap_->left) {
    for (std::size_t i = 0; i < ahead; ++i) step();
  }

  HWY_INLINE void fetch() {
    constexpr std::size_t rows_of_line = std::max<std::size_t>(line_floats / Step, 1);
    POLYCHRON_UNROLLED_LOOP
    for (std::size_t r = 0; r < Rows; r += rows_of_line) __builtin_prefetch(left_ + r * Step);
    step();
  }

 private:
  HWY_INLINE void step() {
    left_ += product_.left_step;
    if (++block_ < blocks_) return;
    block_ = 0;
    if (++tap_ == product_.taps.data() + product_.taps.size()) {
      tap_ = product_.taps.data();
      offset_ += std::ptrdiff_t{Rows * Step};
      if (++time_ == product_.times && product_.next_left != nullptr)
        offset_ = product_.next_left - tap_->left;
    }
    left_ = tap_->left + offset_;
  }

  const PanelProduct& product_;
  const std::size_t blocks_;
  const Tap* tap_;
  const float* left_;
  std::size_t block_ = 0, time_ = 0;
  std::ptrdiff_t offset_ = 0;
};

/// Channels from vector number `vector` of a panel's columns on.
HWY_INLINE std::size_t channels_from(const PanelProduct& product, std::size_t vector) {
  return product.channels - std::min(product.channels, vector * lanes);
}

template <std::size_t Rows, std::size_t Columns>
HWY_INLINE void finish(const PanelProduct& product, std::size_t offset,
                       const Sums<Rows, Columns>& sums) {
  const Real d;
  POLYCHRON_UNROLLED_LOOP
  for (std::size_t v = 0; v < Columns * vectors_of_block; ++v) {
    const Bounds bounds(product.lowest, product.highest, channels_from(product, v));
    const std::size_t at =
        offset + v / vectors_of_block * product.result_step + v % vectors_of_block * lanes;
    float* const result = product.result + at;
    const float* const added = product.added == nullptr ? nullptr : product.added + at;
    POLYCHRON_UNROLLED_LOOP
    for (std::size_t r = 0; r < Rows; ++r) {
      auto sum = sums[r][v];
      if (added != nullptr) sum = hn::Add(sum, hn::LoadU(d, added + r * block_floats));
      hn::StoreU(bounds.of(sum), d, result + r * block_floats);
    }
  }
}

template <std::size_t Step, std::size_t Columns, std::size_t Rows>
void multiply(const PanelProduct& product) {
  const Real d;
  Reals biases[Columns * vectors_of_block];
  POLYCHRON_UNROLLED_LOOP
  for (std::size_t v = 0; v < Columns * vectors_of_block; ++v) {
    const std::size_t left = channels_from(product, v);
    biases[v] = product.bias == nullptr || left == 0 ? hn::Zero(d)
                                                     : load_some(d, product.bias + v * lanes, left);
  }
  const std::size_t blocks = (product.elements + block_floats - 1) / block_floats;
  const std::size_t fours_of_last =
      (product.elements - (blocks - 1) * block_floats) / elements_at_once;
  const float* next_panel = product.fetch.from;
  Lookahead<Rows, Step> lookahead(product, blocks);
  for (std::size_t time = 0; time < product.times; ++time) {
    const std::size_t done = time * Rows;
    Sums<Rows, Columns> sums;
    POLYCHRON_UNROLLED_LOOP
    for (std::size_t r = 0; r < Rows; ++r) {
      POLYCHRON_UNROLLED_LOOP
      for (std::size_t v = 0; v < Columns * vectors_of_block; ++v) sums[r][v] = biases[v];
    }
    if (product.added != nullptr)
      for (std::size_t c = 0; c < Columns; ++c)
        for (std::size_t r = 0; r < Rows; ++r)
          __builtin_prefetch(product.added + c * product.result_step + (done + r) * block_floats);
    for (const Tap& tap : product.taps) {
      const float* panel = tap.panel;
      const float* left = tap.left + done * Step;
      const bool whole = tap.first == 0 && tap.last >= Rows;
      for (std::size_t block = 1; block <= blocks; ++block, left += product.left_step) {
        constexpr std::size_t all = block_floats / elements_at_once;
        const std::size_t fours = block < blocks ? all : fours_of_last;
        lookahead.fetch();
        if (whole) {
          add_block<Rows, Columns>(
              sums, [left](std::size_t r) HWY_ATTR { return left + r * Step; }, panel, fours,
              next_panel, product);
        } else {
          std::array<const float*, Rows> rows;
          for (std::size_t r = 0; r < Rows; ++r)
            rows[r] = r >= tap.first && r < tap.last ? left + r * Step : zeros.data();
          add_block<Rows, Columns>(
              sums, [&rows](std::size_t r) HWY_ATTR { return rows[r]; }, panel, fours, next_panel,
              product);
        }
      }
    }
    finish<Rows, Columns>(product, done * block_floats, sums);
  }
}

using Multiply = void (*)(const PanelProduct&);
using ForRows = std::array<Multiply, most_rows_of_panel>;

template <std::size_t Step, std::size_t Columns, std::size_t... Rows>
constexpr ForRows for_rows(std::index_sequence<Rows...>) {
  return {multiply<Step, Columns, Rows + 1>...};
}

template <std::size_t Step>
constexpr std::array<ForRows, most_columns> for_step() {
  return {for_rows<Step, 1>(std::make_index_sequence<most_rows_of_panel>()),
          for_rows<Step, 2>(std::make_index_sequence<most_rows_of_panel>())};
}

void multiply_panel(const PanelProduct& product, std::size_t rows) {
  static constexpr std::array<std::array<ForRows, most_columns>, 2> ways{
      for_step<block_floats>(), for_step<2 * block_floats>()};
  const auto multiply_by = [rows](const PanelProduct& any) {
    ways[any.row_step / block_floats - 1][any.columns - 1][rows - 1](any);
  };
  if (!product.taps.empty()) return multiply_by(product);
  // For example a window entirely in padding: one tap of no elements.
  static constexpr Tap none{zeros.data(), zeros.data()};
  PanelProduct nothing = product;
  nothing.taps = {&none, 1};
  nothing.elements = 0;
  nothing.fetch = {};
  multiply_by(nothing);
}

#else

void multiply_panel(const PanelProduct&, std::size_t) {}

#endif

}  // namespace polychron::kernels::direct::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace polychron::kernels::direct {
namespace {

HWY_EXPORT(rows_of_panel);
HWY_EXPORT(multiply_panel);

}  // namespace

std::size_t most_rows() {
  static const std::size_t rows = [] {
    kernels::vectors();  // limits Highway's choice
    return HWY_DYNAMIC_DISPATCH(rows_of_panel)();
  }();
  return rows;
}

void multiply_rows(const PanelProduct& product, std::size_t rows) {
  HWY_DYNAMIC_DISPATCH(multiply_panel)(product, rows);
}

}  // namespace polychron::kernels::direct
#endif
