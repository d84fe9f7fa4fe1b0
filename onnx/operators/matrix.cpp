// Products of matrices.
#include <array>

#include "onnx/handlers.hpp"
#include "onnx/operators/term.hpp"

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

/// Along the first row, with what remains of the others: for small matrices.
Term determinant(const Term& x) {
  const auto row = static_cast<std::uint32_t>(x.rank() - 2);
  const auto n = x.shape().back();
  if (n == 1) return x.at(row + 1, 0).at(row, 0);
  const auto below = x.slice(row, 1, n);
  std::optional<Term> sum;
  for (std::uint32_t c = 0; c < n; ++c) {
    x.node().importer.spend(4);
    std::vector<Term> parts;
    if (c > 0) parts.push_back(below.slice(row + 1, 0, c));
    if (c + 1 < n) parts.push_back(below.slice(row + 1, c + 1, n));
    const auto part = x.at(row, 0).at(row, c) * determinant(concat(parts, row + 1));
    sum = !sum ? part : c % 2 == 0 ? *sum + part : *sum - part;
  }
  return *sum;
}

void det(Node& node) {
  const auto x = term(node, 0);
  if (x.rank() < 2 || x.shape().back() != x.shape()[x.rank() - 2])
    malformed("a matrix of shape " + to_string(x.shape()));
  if (x.shape().back() > 5) unsupported("the determinant of so large a matrix");
  node.set(determinant(x).operand());
}

}  // namespace

std::span<const Row> matrix_rows() noexcept {
  static constexpr std::array rows{
      Row{"Det", det},
      Row{"Gemm", gemm},
      Row{"MatMul", matmul},
  };
  return rows;
}

}  // namespace polychron::onnx::detail
