#include "kernels/direct/panel_product.hpp"

#ifdef POLYCHRON_WIDE

#include <array>
#include <utility>

namespace polychron::kernels::direct {
namespace {

template <std::size_t Rows, std::size_t Columns>
[[POLYCHRON_WIDE]] void multiply(const PanelProduct& product) {
  Wide sums[Rows][Columns];
  POLYCHRON_UNROLLED
  for (std::size_t r = 0; r < Rows; ++r)
    for (std::size_t c = 0; c < Columns; ++c) sums[r][c] = _mm512_setzero_ps();
  const float* left = product.left;
  const float* panel = product.panel;
  for (std::size_t block = 0; block < product.blocks; ++block, left += product.left_step)
    for (std::size_t k = 0; k < wide_floats; ++k, panel += Columns * wide_floats) {
      Wide factors[Columns];  // constants that are alike lie where somebody has put them
      for (std::size_t c = 0; c < Columns; ++c)
        factors[c] = _mm512_loadu_ps(panel + c * wide_floats);
      POLYCHRON_UNROLLED
      for (std::size_t r = 0; r < Rows; ++r) {
        const Wide element = _mm512_set1_ps(left[r * wide_floats + k]);
        for (std::size_t c = 0; c < Columns; ++c)
          sums[r][c] = _mm512_fmadd_ps(element, factors[c], sums[r][c]);
      }
    }
  POLYCHRON_UNROLLED
  for (std::size_t r = 0; r < Rows; ++r)
    for (std::size_t c = 0; c < Columns; ++c)
      _mm512_store_ps(product.result + c * product.result_step + r * wide_floats, sums[r][c]);
}

using Multiply = void (*)(const PanelProduct&);

template <std::size_t Columns, std::size_t... Rows>
constexpr std::array<Multiply, most_rows> for_rows(std::index_sequence<Rows...>) {
  return {multiply<Rows + 1, Columns>...};
}

constexpr std::array<std::array<Multiply, most_rows>, most_columns> ways{
    for_rows<1>(std::make_index_sequence<most_rows>()),
    for_rows<2>(std::make_index_sequence<most_rows>())};

}  // namespace

void multiply_rows(const PanelProduct& product, std::size_t rows) {
  ways[product.columns - 1][rows - 1](product);
}

}  // namespace polychron::kernels::direct

#endif
