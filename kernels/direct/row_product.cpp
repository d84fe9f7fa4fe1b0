#include "kernels/direct/row_product.hpp"

#ifdef POLYCHRON_WIDE

#include <algorithm>
#include <array>
#include <utility>

namespace polychron::kernels::direct {
namespace {

template <std::size_t Rows, std::size_t Vectors>
using Sums = Wide[Rows][Vectors];

/// Multiples of the stride between rows. An instruction can add one of these, times 1, 2, 4 or 8,
/// to an address, which reaches every one of eight rows.
struct Steps {
  std::size_t one, three, five, seven;
  explicit Steps(std::size_t step) : one(step), three(3 * step), five(5 * step), seven(7 * step) {}

  [[gnu::always_inline]] std::size_t times(std::size_t row) const {
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

template <std::size_t Rows, std::size_t Vectors>
[[gnu::always_inline, POLYCHRON_WIDE]] inline void add_element(Sums<Rows, Vectors>& sums,
                                                               const float* left,
                                                               const Steps& steps,
                                                               const float* panel) {
  Wide factors[Vectors];
  POLYCHRON_UNROLLED
  for (std::size_t v = 0; v < Vectors; ++v) factors[v] = _mm512_loadu_ps(panel + v * wide_floats);
  POLYCHRON_UNROLLED
  for (std::size_t r = 0; r < Rows; ++r) {
    const Wide element = _mm512_set1_ps(left[steps.times(r)]);
    POLYCHRON_UNROLLED
    for (std::size_t v = 0; v < Vectors; ++v)
      sums[r][v] = _mm512_fmadd_ps(element, factors[v], sums[r][v]);
  }
}

template <std::size_t Rows, std::size_t Vectors>
[[gnu::always_inline, POLYCHRON_WIDE]] inline void begin(const RowProduct& product,
                                                         Sums<Rows, Vectors>& sums) {
  POLYCHRON_UNROLLED
  for (std::size_t v = 0; v < Vectors; ++v) {
    const __mmask16 columns = present(product.columns, v);
    const std::size_t at = v * wide_floats;
    const Wide bias = product.bias == nullptr ? _mm512_setzero_ps()
                                              : _mm512_maskz_loadu_ps(columns, product.bias + at);
    POLYCHRON_UNROLLED
    for (std::size_t r = 0; r < Rows; ++r)
      sums[r][v] = product.continues ? _mm512_maskz_loadu_ps(
                                           columns, product.result + r * product.result_step + at)
                                     : bias;
  }
}

template <std::size_t Rows, std::size_t Vectors>
[[gnu::always_inline, POLYCHRON_WIDE]] inline void finish(const RowProduct& product,
                                                          const Sums<Rows, Vectors>& sums) {
  const Wide lowest = _mm512_set1_ps(product.lowest), highest = _mm512_set1_ps(product.highest);
  POLYCHRON_UNROLLED
  for (std::size_t v = 0; v < Vectors; ++v) {
    const __mmask16 columns = present(product.columns, v);
    const std::size_t at = v * wide_floats;
    POLYCHRON_UNROLLED
    for (std::size_t r = 0; r < Rows; ++r) {
      Wide sum = sums[r][v];
      if (product.ends) {
        if (product.added != nullptr)
          sum = _mm512_add_ps(
              sum, _mm512_maskz_loadu_ps(columns, product.added + r * product.result_step + at));
        sum = _mm512_min_ps(highest, _mm512_max_ps(lowest, sum));  // NaN stays
      }
      _mm512_mask_storeu_ps(product.result + r * product.result_step + at, columns, sum);
    }
  }
}

/// Applies gelu to results that were just stored. The program has this code once, not in each
/// instance of the product.
[[POLYCHRON_WIDE]] void apply_gelu(const RowProduct& product, std::size_t rows) {
  for (std::size_t v = 0; v < product.vectors; ++v) {
    const __mmask16 columns = present(product.columns, v);
    float* result = product.result + v * wide_floats;
    for (std::size_t r = 0; r < rows; ++r, result += product.result_step)
      _mm512_mask_storeu_ps(result, columns,
                            gelu(*product.gelu, _mm512_maskz_loadu_ps(columns, result)));
  }
}

template <std::size_t Vectors, std::size_t Rows>
[[POLYCHRON_WIDE]] void multiply(const RowProduct& product) {
  const Steps steps(product.left_step);
  Sums<Rows, Vectors> sums;
  begin<Rows, Vectors>(product, sums);
  if (product.ends && product.added != nullptr)
    for (std::size_t r = 0; r < Rows; ++r)
      for (std::size_t v = 0; v < Vectors; ++v)
        _mm_prefetch(reinterpret_cast<const char*>(product.added + r * product.result_step +
                                                   v * wide_floats),
                     _MM_HINT_T0);
  const float* next = product.fetch.from;
  const float *left = product.left, *panel = product.panel;
  for (std::size_t four = product.elements / elements_at_once; four > 0; --four) {
    fetch_lines(next, product.fetch);
    POLYCHRON_NOT_UNROLLED
    for (std::size_t k = 0; k < elements_at_once; ++k, ++left, panel += Vectors * wide_floats)
      add_element<Rows, Vectors>(sums, left, steps, panel);
  }
  for (std::size_t k = product.elements % elements_at_once; k > 0;
       --k, ++left, panel += Vectors * wide_floats)
    add_element<Rows, Vectors>(sums, left, steps, panel);
  finish<Rows, Vectors>(product, sums);
}

using Multiply = void (*)(const RowProduct&);
using ForRows = std::array<Multiply, most_product_rows>;

template <std::size_t Vectors, std::size_t... Rows>
constexpr ForRows for_rows(std::index_sequence<Rows...>) {
  return {multiply<Vectors, Rows + 1>...};
}

template <std::size_t... Vectors>
constexpr std::array<ForRows, most_product_vectors> for_vectors(std::index_sequence<Vectors...>) {
  return {for_rows<Vectors + 1>(std::make_index_sequence<most_product_rows>())...};
}

constexpr auto ways = for_vectors(std::make_index_sequence<most_product_vectors>());

}  // namespace

void multiply_rows(const RowProduct& product, std::size_t rows) {
  ways[product.vectors - 1][rows - 1](product);
  if (product.ends && product.gelu != nullptr) apply_gelu(product, rows);
}

}  // namespace polychron::kernels::direct

#endif
