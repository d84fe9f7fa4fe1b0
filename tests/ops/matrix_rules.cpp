// matmul and gemm: the clauses of the public test suite.
#include "tests/ops/check.hpp"

using namespace polychron;
using namespace polychron::test;

BOOST_AUTO_TEST_SUITE(matrix_rules)

BOOST_AUTO_TEST_CASE(matmul) {
  accept("matmul", {f32({1, 4}), f32({2, 2, 4, 2})}, {}, f32({2, 2, 1, 2}));
  accept("matmul", {f32({4, 2}), f32({2, 3})}, {}, f32({4, 3}));
  accept("matmul", {f32({2, 3, 4}), f32({1, 4, 1})}, {}, f32({2, 3, 1}));
  accept("matmul", {f32({2, 2, 3, 4}), f32({1, 4, 5})}, {}, f32({2, 2, 3, 5}));
  accept("matmul", {f32({2, 3, 4}), f32({2, 4, 5})}, {}, f32({2, 3, 5}));
  refuse("matmul", {f32({4}), f32({4, 2})}, {}, "operand 'a'");
  refuse("matmul", {f32({2, 4}), f32({4})}, {}, "operand 'b'");
  refuse("matmul", {u32({2, 4}), u32({4, 2})}, {}, "operand 'a'");
  refuse("matmul", {f32({2, 4}), f16({4, 2})}, {}, "operand 'b'");
  refuse("matmul", {f32({2, 3}), f32({2, 4})}, {}, "operand 'b'");
  refuse("matmul", {f32({3, 3, 4}), f32({2, 4, 1})}, {}, "batch");
}

BOOST_AUTO_TEST_CASE(gemm) {
  const GemmAttributes plain;
  const GemmAttributes a_transposed{.a_transpose = true};
  const GemmAttributes b_transposed{.b_transpose = true};
  accept("gemm", {f32({2, 3}), f32({3, 4})}, plain, f32({2, 4}));
  accept("gemm", {f32({2, 3}), f32({2, 4})}, a_transposed, f32({3, 4}));
  accept("gemm", {f32({2, 3}), f32({4, 3})}, b_transposed, f32({2, 4}));
  accept("gemm", {f32({2, 3}), f32({3, 4}), f32({4})}, plain, f32({2, 4}));
  accept("gemm", {f32({2, 3}), f32({3, 4}), f32({})}, plain, f32({2, 4}));
  refuse("gemm", {f32({2, 3}), f32({2, 4})}, plain, "operand 'b'");
  refuse("gemm", {f32({2, 3}), f32({3, 4})}, a_transposed, "operand 'b'");
  refuse("gemm", {f32({2, 3}), f32({3, 4})}, b_transposed, "operand 'b'");
  refuse("gemm", {f32({2, 3, 1}), f32({2, 4})}, plain, "operand 'a'");
  refuse("gemm", {f32({2, 3}), f32({4})}, plain, "operand 'b'");
  refuse("gemm", {f32({2, 3}), f16({3, 4})}, plain, "operand 'b'");
  refuse("gemm", {i32({2, 3}), i32({3, 4})}, plain, "operand 'a'");
  refuse("gemm", {f32({2, 3}), f32({3, 4}), f32({2, 3})}, plain, "operand 'c'");
  refuse("gemm", {f32({2, 3}), f32({3, 4}), f16({4})}, plain, "operand 'c'");
  refuse("gemm", {f32({2, 3}), f32({3, 4}), f32({1, 2, 4})}, plain, "operand 'c'");
}

BOOST_AUTO_TEST_SUITE_END()
