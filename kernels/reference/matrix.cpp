// matmul, gemm and softmax.
#include "kernels/reference/reference.hpp"
#include "kernels/reference/types.hpp"
#include "kernels/reference/walk.hpp"
#include "ops/table.hpp"

namespace polychron::kernels::reference {
namespace {

using ops::op;

void matmul(const Call& call) {
  const Shape& a_shape = call.in_shape(0);
  const Shape& shape = call.out_shape();
  const std::size_t rank = shape.size();
  const std::int64_t inner = a_shape.back();
  // Rows and columns are walked like the batch. An operand has stride 0 along the other one's
  // dimension.
  std::array strides{broadcast_strides(a_shape, shape), broadcast_strides(call.in_shape(1), shape)};
  strides[0][rank - 1] = 0;
  strides[1][rank - 2] = 0;
  strides[0][rank - 2] = inner;
  strides[1][rank - 1] = 1;
  const std::int64_t b_step = shape[rank - 1];
  with_element(call.in_type(), [&]<class T>(T) {
    const T* a = call.in<T>(0);
    const T* b = call.in<T>(1);
    T* out = call.out<T>();
    for_each<2>(shape, strides, [&](const auto& at, const auto&) {
      Wide<T> sum{};
      for (std::int64_t k = 0; k < inner; ++k)
        sum += widen(a[at[0] + k]) * widen(b[at[1] + k * b_step]);
      *out++ = narrow<T>(sum);
    });
  });
}

void gemm(const Call& call) {
  const auto& attributes = std::get<GemmAttributes>(call.problem.attributes);
  const std::int64_t rows = call.out_shape()[0], columns = call.out_shape()[1];
  const Shape& a_shape = call.in_shape(0);
  const std::int64_t inner = a_shape[attributes.a_transpose ? 0 : 1];
  const std::int64_t a_row = attributes.a_transpose ? 1 : inner;
  const std::int64_t a_inner = attributes.a_transpose ? rows : 1;
  const std::int64_t b_column = attributes.b_transpose ? inner : 1;
  const std::int64_t b_inner = attributes.b_transpose ? 1 : columns;
  const Strides c_strides =
      call.has(2) ? broadcast_strides(call.in_shape(2), call.out_shape()) : Strides{};
  with_float(call.in_type(), [&]<class T>(T) {
    const T* a = call.in<T>(0);
    const T* b = call.in<T>(1);
    T* out = call.out<T>();
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j) {
        double sum = 0;
        for (std::int64_t k = 0; k < inner; ++k)
          sum += widen(a[i * a_row + k * a_inner]) * widen(b[k * b_inner + j * b_column]);
        sum *= attributes.alpha;
        if (call.has(2))
          sum += attributes.beta * widen(call.in<T>(2)[i * c_strides[0] + j * c_strides[1]]);
        *out++ = narrow<T>(sum);
      }
  });
}

}  // namespace

std::span<const Entry> matrix_entries() noexcept {
  static constexpr Entry entries[] = {{op("gemm"), gemm}, {op("matmul"), matmul}};
  return entries;
}

}  // namespace polychron::kernels::reference
