// Activations: the clauses of the public test suite.
#include <limits>

#include "tests/ops/check.hpp"

using namespace polychron;
using namespace polychron::test;

BOOST_AUTO_TEST_SUITE(activation_rules)

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

BOOST_AUTO_TEST_CASE(clamp_bounds) {
  const auto bounds = [](Number low, Number high) { return ClampAttributes{low, high}; };
  accept("clamp", {f32({2})}, bounds(1.0, 3.0), f32({2}));
  accept("clamp", {f32({2})}, bounds(1.0, 1.0), f32({2}));
  accept("clamp", {f32({2})}, bounds(-infinity, infinity), f32({2}));
  accept("clamp", {f32({2})}, ClampAttributes{1.0, std::nullopt}, f32({2}));
  refuse("clamp", {f32({2})}, bounds(3.0, 1.0), "minValue");
  // Bounds are cast to the operand's type before they are compared.
  accept("clamp", {i32({2})}, bounds(1.4, 0.6), i32({2}));
  refuse("clamp", {i64({2})}, bounds((std::int64_t{1} << 53) + 1, std::int64_t{1} << 53));
  accept("clamp", {u8({2})}, bounds(300.0, 255.0), u8({2}));
}

BOOST_AUTO_TEST_CASE(prelu_broadcasts_both_ways) {
  for (const Shape& slope : std::vector<Shape>{{3, 2, 5}, {5}, {}, {2, 5}})
    accept("prelu", {f32({3, 2, 5}), f32(slope)}, {}, f32({3, 2, 5}));
  accept("prelu", {f32({5}), f32({3, 2, 5})}, {}, f32({3, 2, 5}));
  refuse("prelu", {f32({3, 2, 5}), f32({2})}, {}, "operand 'slope'");
  refuse("prelu", {f32({3, 2, 5}), f16({5})}, {}, "operand 'slope'");
}

BOOST_AUTO_TEST_CASE(softmax_axis) {
  accept("softmax", {f32({4, 4, 3})}, SoftmaxAttributes{1}, f32({4, 4, 3}));
  accept("softmax", {f16({3, 1, 5, 2})}, SoftmaxAttributes{2}, f16({3, 1, 5, 2}));
  refuse("softmax", {i32({4, 4})}, SoftmaxAttributes{1}, "operand 'input'");
  refuse("softmax", {f32({4, 4, 4, 4})}, SoftmaxAttributes{4}, "axis");
  refuse("softmax", {f32({})}, SoftmaxAttributes{0});
}

BOOST_AUTO_TEST_SUITE_END()
