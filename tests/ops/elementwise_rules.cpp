// Element-wise operators and activations: the clauses of the public test suite, and the
// specification where it goes further.
#include "tests/ops/check.hpp"

using namespace polychron;
using namespace polychron::test;

BOOST_AUTO_TEST_SUITE(elementwise_rules)

BOOST_AUTO_TEST_CASE(binary_shapes) {
  accept("add", {f32({8, 1, 6, 1}), f32({7, 1, 5})}, {}, f32({8, 7, 6, 5}));
  accept("mul", {f32({4, 2, 1}), f32({4})}, {}, f32({4, 2, 4}));
  accept("sub", {f32({4, 2, 4}), f32({})}, {}, f32({4, 2, 4}));
  refuse("add", {f32({4, 2}), f32({4})}, {}, "operand 'b'");
  refuse("add", {f32({2}), i32({2})}, {}, "operand 'b'");
}

BOOST_AUTO_TEST_CASE(comparisons_give_uint8) {
  accept("equal", {i64({3, 1}), i64({2})}, {}, u8({3, 2}));
  accept("logicalXor", {u8({3}), u8({3})}, {}, u8({3}));
  accept("logicalNot", {u8({3})}, {}, u8({3}));
}

BOOST_AUTO_TEST_CASE(cast_gives_the_type_asked_for) {
  for (const auto from : ops::type_sets::any.members())
    for (const auto to : ops::type_sets::any.members())
      accept("cast", {{from, {2, 3}}}, CastAttributes{to}, {to, {2, 3}});
  for (const auto packed : {DataType::int4, DataType::uint4}) {
    refuse("cast", {{packed, {2, 3}}}, CastAttributes{DataType::int8}, "operand 'input'");
    refuse("cast", {i8({2, 3})}, CastAttributes{packed}, "would be");
  }
}

BOOST_AUTO_TEST_CASE(where_broadcasts_all_three) {
  for (const auto type :
       {DataType::float32, DataType::float16, DataType::int32, DataType::uint32}) {
    const auto check = [&](Shape condition, Shape yes, Shape no, Shape result) {
      accept("where", {u8(condition), {type, yes}, {type, no}}, {}, {type, result});
    };
    check({2, 1}, {2, 4}, {2, 4}, {2, 4});
    check({1, 4}, {3, 4}, {2, 3, 4}, {2, 3, 4});
    check({2, 1, 4}, {2, 3, 4}, {1, 4}, {2, 3, 4});
    check({2, 3, 4, 5}, {3, 4, 5}, {4, 5}, {2, 3, 4, 5});
  }
  refuse("where", {f32({2}), f32({2}), f32({2})}, {}, "operand 'condition'");
  refuse("where", {u8({2}), f32({2}), f16({2})}, {}, "operand 'falseValue'");
  refuse("where", {u8({2, 4}), f32({2, 4}), f32({2, 3})}, {}, "operand 'falseValue'");
  refuse("where", {u8({2, 4}), f32({2, 3}), f32({2, 1})}, {}, "operand 'trueValue'");
}

BOOST_AUTO_TEST_SUITE_END()
