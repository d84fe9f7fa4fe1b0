// MatMul and Gemm against plain loops.
#include "tests/onnx/fixture.hpp"

using namespace onnx_tests;
using polychron::ErrorKind;

BOOST_AUTO_TEST_SUITE(matrix)

namespace {

/// Products of the last two dimensions; `b` has as many matrices as `a`, or one.
Value product(const Value& a, const Value& b) {
  const auto rank = a.shape.size();
  const auto m = a.shape[rank - 2], k = a.shape[rank - 1], n = b.shape.back();
  auto shape = a.shape;
  shape.back() = n;
  auto y = ramp(shape, 0, 0);
  for (std::size_t i = 0; i < y.data.size(); ++i) {
    const auto matrix = i / (std::size_t{m} * n), row = i / n % m, column = i % n;
    for (std::size_t j = 0; j < k; ++j)
      y.data[i] += a.data[(matrix * m + row) * k + j] *
                   b.data[(matrix * k * n + j * n + column) % b.data.size()];
  }
  return y;
}

Value transposed(const Value& a) {
  auto t = a;
  t.shape = {a.shape[1], a.shape[0]};
  for (std::size_t i = 0; i < a.data.size(); ++i)
    t.data[i] = a.data[i % a.shape[0] * a.shape[1] + i / a.shape[0]];
  return t;
}

}  // namespace

BOOST_AUTO_TEST_CASE(matmul_of_any_rank) {
  const auto model = Model().node("MatMul", {"a", "b"}, {"y"});
  const auto multiplies = [&](const Value& a, const Value& b) {
    check(model, {{"a", a}, {"b", b}}, {{"y", product(a, b)}});
  };
  multiplies(noise({3, 4}), noise({4, 5}, 2));
  multiplies(noise({2, 3, 4}), noise({4, 5}, 2));
  multiplies(noise({2, 2, 3, 4}), noise({2, 2, 4, 5}, 2));
}

BOOST_AUTO_TEST_CASE(matmul_of_vectors) {
  const auto model = Model().node("MatMul", {"a", "b"}, {"y"});
  const auto row = floats({3}, {1, 2, 3});
  const auto matrix = floats({3, 2}, {1, 0, 0, 1, 1, 1});
  check(model, {{"a", row}, {"b", matrix}}, {{"y", floats({2}, {4, 5})}});
  check(model, {{"a", floats({2, 3}, {1, 0, 1, 0, 1, 0})}, {"b", row}},
        {{"y", floats({2}, {4, 2})}});
  check(model, {{"a", row}, {"b", row}}, {{"y", floats({}, {14})}});
}

BOOST_AUTO_TEST_CASE(gemm_with_all_attributes) {
  const auto a = noise({3, 4});
  const auto b = noise({4, 5}, 2);
  const auto c = noise({5}, 3);
  auto y = product(a, b);
  for (std::size_t i = 0; i < y.data.size(); ++i) y.data[i] = 0.5 * y.data[i] + 2 * c.data[i % 5];
  for (const bool trans_a : {false, true})
    for (const bool trans_b : {false, true})
      check(Model().node("Gemm", {"a", "b", "c"}, {"y"},
                         {{"alpha", 0.5},
                          {"beta", 2.0},
                          {"transA", std::int64_t{trans_a}},
                          {"transB", std::int64_t{trans_b}}}),
            {{"a", trans_a ? transposed(a) : a}, {"b", trans_b ? transposed(b) : b}, {"c", c}},
            {{"y", y}});
  check(Model().node("Gemm", {"a", "b"}, {"y"}), {{"a", a}, {"b", b}}, {{"y", product(a, b)}});
}

BOOST_AUTO_TEST_CASE(products_that_do_not_fit) {
  cannot(Model().node("MatMul", {"a", "b"}, {"y"}), {{"a", noise({2, 3})}, {"b", noise({2, 3})}},
         ErrorKind::not_supported, "operator 'MatMul' (node 'the_MatMul', opset 13)");
  cannot(Model().node("MatMul", {"a", "b"}, {"y"}), {{"a", noise({})}, {"b", noise({2, 3})}},
         ErrorKind::bad_data, "a scalar is not a matrix");
}

BOOST_AUTO_TEST_SUITE_END()
