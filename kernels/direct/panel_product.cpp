#include "kernels/direct/panel_product.hpp"

#ifdef POLYCHRON_WIDE

#include <algorithm>
#include <array>
#include <utility>

namespace polychron::kernels::direct {
namespace {

/// The distance of prefetches, in blocks of elements: about 600 cycles.
constexpr std::size_t ahead = 3;

alignas(64) constexpr std::array<float, wide_floats> zeros{};

template <std::size_t Rows, std::size_t Columns>
using Sums = Wide[Rows][Columns];

/// Adds the products of `fours` groups of four elements. `row(r)` is where the elements of row r
/// begin.
template <std::size_t Rows, std::size_t Columns, class Row>
[[gnu::always_inline, POLYCHRON_WIDE]] inline void add_block(Sums<Rows, Columns>& sums,
                                                             const Row& row, const float*& panel,
                                                             std::size_t fours,
                                                             const float*& next_panel,
                                                             const PanelProduct& product) {
  for (std::size_t four = 0; four < fours; ++four) {
    fetch_lines(next_panel, product.fetch);
    POLYCHRON_NOT_UNROLLED
    for (std::size_t k = 0; k < elements_at_once; ++k, panel += Columns * wide_floats) {
      Wide factors[Columns];  // unaligned: equal constants share one owner's memory
      POLYCHRON_UNROLLED_LOOP
      for (std::size_t c = 0; c < Columns; ++c)
        factors[c] = _mm512_loadu_ps(panel + c * wide_floats);
      POLYCHRON_UNROLLED_LOOP
      for (std::size_t r = 0; r < Rows; ++r) {
        const Wide element = _mm512_set1_ps(row(r)[four * elements_at_once + k]);
        POLYCHRON_UNROLLED_LOOP
        for (std::size_t c = 0; c < Columns; ++c)
          sums[r][c] = _mm512_fmadd_ps(element, factors[c], sums[r][c]);
      }
    }
  }
}

/// Walks through the left operands, block by block, ahead of the multiplication.
template <std::size_t Rows, std::size_t Step>
class Lookahead {
 public:
  explicit Lookahead(const PanelProduct& product, std::size_t blocks)
      : product_(product), blocks_(blocks), tap_(product.taps.data()), left_(tap_->left) {
    for (std::size_t i = 0; i < ahead; ++i) step();
  }

  [[gnu::always_inline, POLYCHRON_WIDE]] void fetch() {
    POLYCHRON_UNROLLED_LOOP
    for (std::size_t r = 0; r < Rows; ++r)
      _mm_prefetch(reinterpret_cast<const char*>(left_ + r * Step), _MM_HINT_T0);
    step();
  }

 private:
  void step() {
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

template <std::size_t Rows, std::size_t Columns>
[[gnu::always_inline, POLYCHRON_WIDE]] inline void finish(const PanelProduct& product,
                                                          std::size_t offset,
                                                          const Sums<Rows, Columns>& sums) {
  const Wide lowest = _mm512_set1_ps(product.lowest), highest = _mm512_set1_ps(product.highest);
  POLYCHRON_UNROLLED_LOOP
  for (std::size_t c = 0; c < Columns; ++c) {
    const __mmask16 channels = present(product.channels, c);
    float* const result = product.result + offset + c * product.result_step;
    const float* const added =
        product.added == nullptr ? nullptr : product.added + offset + c * product.result_step;
    POLYCHRON_UNROLLED_LOOP
    for (std::size_t r = 0; r < Rows; ++r) {
      Wide sum = sums[r][c];
      if (added != nullptr) sum = _mm512_add_ps(sum, _mm512_loadu_ps(added + r * wide_floats));
      // NaN stays; channels of padding become 0.
      sum = _mm512_maskz_min_ps(channels, highest, _mm512_max_ps(lowest, sum));
      _mm512_storeu_ps(result + r * wide_floats, sum);
    }
  }
}

template <std::size_t Step, std::size_t Columns, std::size_t Rows>
[[POLYCHRON_WIDE]] void multiply(const PanelProduct& product) {
  Wide biases[Columns];
  POLYCHRON_UNROLLED_LOOP
  for (std::size_t c = 0; c < Columns; ++c)
    biases[c] = product.bias == nullptr ? _mm512_setzero_ps()
                                        : _mm512_maskz_loadu_ps(present(product.channels, c),
                                                                product.bias + c * wide_floats);
  const std::size_t blocks = (product.elements + wide_floats - 1) / wide_floats;
  const std::size_t fours_of_last =
      (product.elements - (blocks - 1) * wide_floats) / elements_at_once;
  const float* next_panel = product.fetch.from;
  Lookahead<Rows, Step> lookahead(product, blocks);
  for (std::size_t time = 0; time < product.times; ++time) {
    const std::size_t done = time * Rows;
    Sums<Rows, Columns> sums;
    POLYCHRON_UNROLLED_LOOP
    for (std::size_t r = 0; r < Rows; ++r) {
      POLYCHRON_UNROLLED_LOOP
      for (std::size_t c = 0; c < Columns; ++c) sums[r][c] = biases[c];
    }
    if (product.added != nullptr)
      for (std::size_t c = 0; c < Columns; ++c)
        for (std::size_t r = 0; r < Rows; ++r)
          _mm_prefetch(reinterpret_cast<const char*>(product.added + c * product.result_step +
                                                     (done + r) * wide_floats),
                       _MM_HINT_T0);
    for (const Tap& tap : product.taps) {
      const float* panel = tap.panel;
      const float* left = tap.left + done * Step;
      const bool whole = tap.first == 0 && tap.last >= Rows;
      for (std::size_t block = 1; block <= blocks; ++block, left += product.left_step) {
        constexpr std::size_t all = wide_floats / elements_at_once;
        const std::size_t fours = block < blocks ? all : fours_of_last;
        lookahead.fetch();
        if (whole) {
          add_block<Rows, Columns>(
              sums, [left](std::size_t r) { return left + r * Step; }, panel, fours, next_panel,
              product);
        } else {
          std::array<const float*, Rows> rows;
          for (std::size_t r = 0; r < Rows; ++r)
            rows[r] = r >= tap.first && r < tap.last ? left + r * Step : zeros.data();
          add_block<Rows, Columns>(
              sums, [&rows](std::size_t r) { return rows[r]; }, panel, fours, next_panel, product);
        }
      }
    }
    finish<Rows, Columns>(product, done * wide_floats, sums);
  }
}

using Multiply = void (*)(const PanelProduct&);
using ForRows = std::array<Multiply, most_rows>;

template <std::size_t Step, std::size_t Columns, std::size_t... Rows>
constexpr ForRows for_rows(std::index_sequence<Rows...>) {
  return {multiply<Step, Columns, Rows + 1>...};
}

template <std::size_t Step>
constexpr std::array<ForRows, most_columns> for_step() {
  return {for_rows<Step, 1>(std::make_index_sequence<most_rows>()),
          for_rows<Step, 2>(std::make_index_sequence<most_rows>())};
}

constexpr std::array<std::array<ForRows, most_columns>, 2> ways{for_step<wide_floats>(),
                                                                for_step<2 * wide_floats>()};

/// Replaces a product without taps, for example of a window entirely in padding. The replacement
/// has one tap of no elements.
PanelProduct nothing_of(const PanelProduct& product) {
  static const Tap none{zeros.data(), zeros.data()};
  PanelProduct other = product;
  other.taps = {&none, 1};
  other.elements = 0;
  other.fetch = {};
  return other;
}

}  // namespace

void multiply_rows(const PanelProduct& product, std::size_t rows) {
  if (product.taps.empty()) return multiply_rows(nothing_of(product), rows);
  ways[product.row_step / wide_floats - 1][product.columns - 1][rows - 1](product);
}

}  // namespace polychron::kernels::direct

#endif
