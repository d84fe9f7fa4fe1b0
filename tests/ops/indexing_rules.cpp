// gather: the clauses of the public test suite.
#include "tests/ops/check.hpp"

using namespace polychron;
using namespace polychron::test;

BOOST_AUTO_TEST_SUITE(indexing_rules)

BOOST_AUTO_TEST_CASE(gather) {
  accept("gather", {i32({3}), i64({})}, GatherAttributes{0}, i32({}));
  for (const auto type : {DataType::int64, DataType::uint32, DataType::int32})
    accept("gather", {f32({1, 2, 3, 4}), {type, {5, 6}}}, GatherAttributes{2},
           f32({1, 2, 5, 6, 4}));
  refuse("gather", {f32({}), i32({1})}, GatherAttributes{0}, "operand 'input'");
  refuse("gather", {f32({1, 2, 3}), i32({1})}, GatherAttributes{4}, "axis");
  refuse("gather", {f32({1, 2, 3}), f32({1})}, GatherAttributes{0}, "operand 'indices'");
  refuse("gather", {f32({1, 2, 3}), {DataType::uint64, {1}}}, GatherAttributes{0},
         "operand 'indices'");
}

BOOST_AUTO_TEST_SUITE_END()
