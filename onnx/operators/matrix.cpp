// Products of matrices.
#include <array>

#include "onnx/handlers.hpp"

namespace polychron::onnx::detail {

namespace {

/// Vectors take part as matrices of one row or column, which the result then loses.
void matmul(Node& node) {
  auto a = node.operand(0);
  auto b = node.operand(1);
  const bool row = a.shape().size() == 1;
  const bool column = b.shape().size() == 1;
  if (a.shape().empty() || b.shape().empty()) malformed("a scalar is no matrix");
  if (row) a = node.builder.reshape(a, {1, a.shape()[0]}, node.options());
  if (column) b = node.builder.reshape(b, {b.shape()[0], 1}, node.options());
  auto result = node.builder.matmul(a, b, node.options());
  if (row || column) {
    auto shape = result.shape();
    if (column) shape.pop_back();
    if (row) shape.erase(shape.end() - (column ? 1 : 2));
    result = node.builder.reshape(result, shape, node.options());
  }
  node.set(result);
}

void gemm(Node& node) {
  auto options = node.options<GemmOptions>();
  options.alpha = node.real("alpha", 1);
  options.beta = node.real("beta", 1);
  options.a_transpose = node.integer("transA", 0) != 0;
  options.b_transpose = node.integer("transB", 0) != 0;
  options.c = node.optional_operand(2);
  node.set(node.builder.gemm(node.operand(0), node.operand(1), options));
}

constexpr std::array rows{
    Row{"Gemm", gemm},
    Row{"MatMul", matmul},
};

}  // namespace

std::span<const Row> matrix_rows() noexcept { return rows; }

}  // namespace polychron::onnx::detail
