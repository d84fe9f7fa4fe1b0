// Reductions, argMin and argMax, cumulativeSum: the clauses of the public test suite.
#include "tests/ops/check.hpp"

using namespace polychron;
using namespace polychron::test;

BOOST_AUTO_TEST_SUITE(reduction_rules)

namespace {

ReduceAttributes over(std::vector<std::uint32_t> axes, bool keep = false) { return {axes, keep}; }

}  // namespace

BOOST_AUTO_TEST_CASE(every_reduction) {
  int rows = 0;
  for (const auto& row : ops::rows()) {
    if (row.shape != ops::reduce_shape) continue;
    ++rows;
    accept(row.name, {f32({1, 3, 4, 4})}, ReduceAttributes{std::nullopt, true}, f32({1, 1, 1, 1}));
    accept(row.name, {f32({1, 3, 5, 5})}, over({0, 1}), f32({5, 5}));
    accept(row.name, {f32({1, 3, 5, 5})}, over({3, 1}, true), f32({1, 1, 5, 1}));
    accept(row.name, {f32({2, 3})}, over({}), f32({2, 3}));
    accept(row.name, {f32({})}, ReduceAttributes{std::nullopt, false}, f32({}));
    refuse(row.name, {f32({1, 2, 3, 4})}, over({4}), "axes");
    refuse(row.name, {f32({1, 2, 3, 4})}, over({0, 1, 1}), "axes");
    for (const auto type : all_data_types) {
      const Descriptors operand{{type, {2, 3, 4}}};
      if (row.operands()[0].types.has(type))
        accept(row.name, operand, ReduceAttributes{std::nullopt, false}, {type, {}});
      else
        refuse(row.name, operand, ReduceAttributes{std::nullopt, false}, "operand 'input'");
    }
  }
  BOOST_TEST(rows == 10);
}

BOOST_AUTO_TEST_CASE(top_k) {
  const auto best = [](std::uint32_t k, std::uint32_t axis) {
    return TopKAttributes{k, axis, true};
  };
  accept("topK", {f32({2, 5, 3})}, best(4, 1), i64({2, 4, 3}));
  accept("topK", {u8({5})}, best(5, 0), i64({5}));
  refuse("topK", {f32({2, 5})}, best(6, 1), "k is 6, expected 1 to 5");
  refuse("topK", {f32({2, 5})}, best(0, 1), "k is 0");
  refuse("topK", {f32({2, 5})}, best(1, 2), "axis");
  refuse("topK", {f32({})}, best(1, 0), "rank 0");
}

BOOST_AUTO_TEST_CASE(arg_min_and_max) {
  const auto along = [](std::uint32_t axis, bool keep = false, DataType type = DataType::int32) {
    return ArgMinMaxAttributes{axis, keep, type};
  };
  for (const std::string_view name : {"argMin", "argMax"}) {
    accept(name, {f32({1, 2, 3, 4})}, along(0), i32({2, 3, 4}));
    accept(name, {f32({1, 2, 3, 4})}, along(1), i32({1, 3, 4}));
    accept(name, {f32({1, 2, 3, 4})}, along(3, true), i32({1, 2, 3, 1}));
    accept(name, {f32({4})}, along(0), i32({}));
    accept(name, {f32({4})}, along(0, true, DataType::int64), i64({1}));
    accept(name, {u8(Shape(max_rank, 2))}, along(max_rank - 1), i32(Shape(max_rank - 1, 2)));
    refuse(name, {f32({1, 2, 3, 4})}, along(4), "axis is 4, expected less than the rank, 4");
    refuse(name, {f32({})}, along(0), "operand 'input' has rank 0, expected 1 to 8");
    for (const auto type : ops::type_sets::any.members()) {
      accept(name, {{type, {2, 3}}}, along(1), i32({2}));
      if (type == DataType::int32 || type == DataType::int64)
        accept(name, {f32({1, 2, 3, 4})}, along(2, false, type), {type, {1, 2, 4}});
      else
        refuse(name, {f32({1, 2, 3, 4})}, along(2, false, type),
               "outputDataType is " + std::string(to_string(type)) + ", expected int32, int64");
    }
    refuse(name, {f32({1})}, along(0, false, static_cast<DataType>(99)), "outputDataType");
  }
}

BOOST_AUTO_TEST_CASE(cumulative_sum) {
  for (const bool exclusive : {false, true})
    for (const bool reversed : {false, true})
      for (const std::uint32_t axis : {0U, 1U, 2U})
        accept("cumulativeSum", {f32({3, 2, 5})},
               CumulativeSumAttributes{axis, exclusive, reversed}, f32({3, 2, 5}));
  accept("cumulativeSum", {f16(Shape(max_rank, 2))}, CumulativeSumAttributes{max_rank - 1},
         f16(Shape(max_rank, 2)));
  refuse("cumulativeSum", {f32({})}, CumulativeSumAttributes{0}, "operand 'input'");
  refuse("cumulativeSum", {f32({3, 2, 5})}, CumulativeSumAttributes{3}, "axis");
  for (const auto type : {DataType::int8, DataType::uint8})
    refuse("cumulativeSum", {{type, {2}}}, CumulativeSumAttributes{0}, "operand 'input'");
}

BOOST_AUTO_TEST_SUITE_END()
