// matmul and gemm.
#include <algorithm>

#include "ops/call.hpp"
#include "ops/dimensions.hpp"
#include "ops/shape_rules.hpp"

namespace polychron::ops {

std::vector<Shape> matmul_shape(const Call& call) {
  Shape a = call.shape(0);
  Shape b = call.shape(1);
  const auto columns_a = a.back();
  const auto rows_a = a[a.size() - 2];
  const auto columns_b = b.back();
  const auto rows_b = b[b.size() - 2];
  if (differ(columns_a, rows_b))
    call.fail("operand 'b' has " + std::to_string(rows_b) + " rows, expected " +
              std::to_string(columns_a) + " as operand 'a' has columns");
  a.resize(a.size() - 2);
  b.resize(b.size() - 2);
  auto result = broadcast(a, b);
  if (!result)
    call.fail("operand 'b' has batch dimensions " + to_string(b) +
              ", expected some that broadcast with " + to_string(a) + " of operand 'a'");
  result->push_back(rows_a);
  result->push_back(columns_b);
  return {*result};
}

std::vector<Shape> gemm_shape(const Call& call) {
  const auto& attributes = call.attributes<GemmAttributes>();
  Shape a = call.shape(0);
  Shape b = call.shape(1);
  if (attributes.a_transpose) std::ranges::reverse(a);
  if (attributes.b_transpose) std::ranges::reverse(b);
  if (differ(a[1], b[0]))
    call.fail("operand 'b' has " + std::to_string(b[0]) + " rows (transposed if asked), expected " +
              std::to_string(a[1]) + " as operand 'a' has columns");
  const Shape result{a[0], b[1]};
  if (call.has(2) && !broadcastable(call.shape(2), result))
    call.fail("operand 'c' has shape " + to_string(call.shape(2)) +
              ", expected one that broadcasts to " + to_string(result));
  return {result};
}

}  // namespace polychron::ops
