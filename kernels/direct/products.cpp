// The rows of products with a constant matrix: of one row, of several rows, of 8-bit integers, with
// packed weights. Also of what is made of products: attention, rotary
// embeddings, and convolutions of 8-bit integers.
#include "kernels/direct/direct.hpp"
#include "ops/table.hpp"

namespace polychron::kernels::direct {
std::span<const Entry> matrix_entries() noexcept {
  static constexpr Entry entries[] = {
      {ops::op("gemm"), prepare_vector_product},
      {ops::op("matmul"), prepare_vector_product},
      {ops::op("gemm"), prepare_matrix_product, by_panels, refuse_matrix_product, true},
      {ops::op("matmul"), prepare_matrix_product, by_panels, refuse_matrix_product, true},
      {op_attention, prepare_attention, "attention", nullptr, true},
      {op_integer_product, prepare_integer_product, "pairs", nullptr, true},
      {op_integer_convolution, prepare_integer_convolution, "pairs", nullptr, true},
      {op_packed_product, prepare_packed_product, "packed", nullptr, true},
      {op_cached_attention, prepare_cached_attention, "cached", nullptr, true},
      {op_rotary_embedding, prepare_rotary_embedding},
  };
  return entries;
}

}  // namespace polychron::kernels::direct
