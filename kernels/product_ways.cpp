#include "kernels/product_ways.hpp"

#include <algorithm>

#include "kernels/epilogue.hpp"
#include "kernels/vectors.hpp"
#include "ops/table.hpp"

namespace polychron::kernels {

bool suits_matrix_panels(const Problem& problem) {
  if (!has_avx512() || (problem.op != ops::op("matmul") && problem.op != ops::op("gemm")))
    return false;
  const auto* const gemm = std::get_if<GemmAttributes>(&problem.attributes);
  if (gemm != nullptr && (gemm->alpha != 1 || gemm->beta != 1 || gemm->a_transpose)) return false;
  const bool others = std::ranges::any_of(problem.inputs, [](const Slot& slot) {
    return slot.present && slot.descriptor.data_type != DataType::float32;
  });
  const Slot &a = problem.inputs[0], &b = problem.inputs[1], &result = problem.outputs[0];
  if (others || !b.constant || b.layout != Layout::plain || !a.lies_plain() || !result.lies_plain())
    return false;
  const Shape &matrix = b.descriptor.shape, &out = result.descriptor.shape;
  // Of short sums the rest is most of the work: 100,000 rows of 32 by 32 take a third longer. Where
  // between 32 and 64 that ends was not measured.
  constexpr std::uint32_t least_elements = 64;
  const bool one_matrix =
      std::all_of(matrix.begin(), matrix.end() - 2, [](std::uint32_t n) { return n == 1; });
  return one_matrix && a.descriptor.shape.back() >= least_elements &&
         *element_count(out) / out.back() >= 2 && product_epilogue_of(problem).has_value();
}

}  // namespace polychron::kernels
