// Products of matrices.
#include <algorithm>
#include <array>
#include <numeric>

#include "onnx/handlers.hpp"
#include "onnx/operators/fused_activation.hpp"

namespace polychron::onnx::detail {

namespace {

/// A vector counts as a matrix of one row or column, which the result drops.
Term product(Node& node, Operand a, Operand b) {
  const bool row = a.shape().size() == 1;
  const bool column = b.shape().size() == 1;
  if (a.shape().empty() || b.shape().empty()) malformed("a scalar is not a matrix");
  if (row) a = node.builder.reshape(a, {1, a.shape()[0]}, node.label());
  if (column) b = node.builder.reshape(b, {b.shape()[0], 1}, node.label());
  auto result = node.builder.matmul(a, b, node.label());
  if (row || column) {
    auto shape = result.shape();
    if (column) shape.pop_back();
    if (row) shape.erase(shape.end() - (column ? 1 : 2));
    result = node.builder.reshape(result, shape, node.label());
  }
  return {node, result};
}

void matmul(Node& node) { node.set(product(node, node.operand(0), node.operand(1)).operand()); }

/// `batch`: moves the rows behind the dimensions of the batch. `transposed`: then swaps the last
/// two dimensions.
Term turned(const Term& x, bool transposed, bool batch) {
  const auto rank = static_cast<std::uint32_t>(x.rank());
  if (rank < 2 || (!transposed && !batch)) return x;
  std::vector<std::uint32_t> order(rank);
  std::iota(order.begin(), order.end(), 0U);
  if (batch) std::rotate(order.begin(), order.begin() + 1, order.end() - 1);
  if (transposed) std::swap(order[rank - 2], order[rank - 1]);
  return x.transpose(order);
}

void fused_matmul(Node& node) {
  const auto is_set = [&](const char* name) { return node.integer(name, 0) != 0; };
  const auto a = turned(term(node, 0), is_set("transA"), is_set("transBatchA"));
  const auto b = turned(term(node, 1), is_set("transB"), is_set("transBatchB"));
  const auto result = product(node, a.operand(), b.operand());
  const auto alpha = node.real("alpha", 1);
  node.set((alpha == 1 ? result : result * alpha).operand());
}

Term general_product(Node& node) {
  const GemmAttributes attributes{.alpha = node.real("alpha", 1),
                                  .beta = node.real("beta", 1),
                                  .a_transpose = node.integer("transA", 0) != 0,
                                  .b_transpose = node.integer("transB", 0) != 0};
  return {node, node.builder.gemm(node.operand(0), node.operand(1), attributes,
                                  node.optional_operand(2), node.label())};
}

void gemm(Node& node) { node.set(general_product(node).operand()); }

/// A Gemm with an activation.
void fused_gemm(Node& node) {
  std::vector<double> parameters;
  for (const char* name : {"activation_alpha", "activation_beta", "activation_gamma"})
    if (node.has_attribute(name)) parameters.push_back(node.real(name, 0));
  const auto name = node.text("activation", "");
  node.set(activated(general_product(node), name, parameters).operand());
}

/// Expands along the first row (Laplace), for small matrices.
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
  if (x.shape().back() > 5) unsupported("the determinant of a matrix larger than 5 x 5");
  node.set(determinant(x).operand());
}

}  // namespace

std::span<const Row> matrix_rows() noexcept {
  static constexpr std::array rows{
      Row{"Det", det},
      Row{"Gemm", gemm},
      Row{"MatMul", matmul},
      Row{"com.microsoft:FusedGemm", fused_gemm},
      Row{"com.microsoft:FusedMatMul", fused_matmul},
  };
  return rows;
}

}  // namespace polychron::onnx::detail
