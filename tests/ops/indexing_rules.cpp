// Indexing: the clauses of the public test suite.
#include <algorithm>

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

namespace {

constexpr DataType index_types[] = {DataType::int32, DataType::uint32, DataType::int64};

bool is_index_type(DataType type) { return std::ranges::count(index_types, type) > 0; }

}  // namespace

BOOST_AUTO_TEST_CASE(gather_elements) {
  const std::string_view name = "gatherElements";
  const auto along = [](std::uint32_t axis) { return GatherAttributes{axis}; };
  accept(name, {f32({1, 2, 3}), i32({2, 2, 3})}, along(0), f32({2, 2, 3}));
  accept(name, {f32({1, 2, 3, 4}), i32({1, 2, 1, 4})}, along(2), f32({1, 2, 1, 4}));
  accept(name, {u8(Shape(max_rank, 1)), i64(Shape(max_rank, 1))}, along(7), u8(Shape(max_rank, 1)));
  for (const auto type : ops::type_sets::any.members()) {
    accept(name, {{type, {3}}, i32({2})}, along(0), {type, {2}});
    if (is_index_type(type))
      accept(name, {f32({3}), {type, {2}}}, along(0), f32({2}));
    else
      refuse(name, {f32({3}), {type, {2}}}, along(0), "operand 'indices'");
  }
  refuse(name, {f32({}), i32({1})}, along(0), "operand 'input'");
  refuse(name, {f32({1}), i32({})}, along(0), "operand 'indices'");
  refuse(name, {f32({1, 2, 3}), i32({1, 2, 3})}, along(3), "axis");
  refuse(name, {f32({1, 2, 3}), i32({2, 3})}, along(0), "operand 'indices' has rank 2, expected 3");
  refuse(name, {f32({1, 2, 3}), i32({1, 2, 2})}, along(0),
         "operand 'indices' has shape [1, 2, 2], expected [1, 2, 3]");
  refuse(name, {f32({1, 2, 3}), i32({2, 2, 3})}, along(1), "operand 'indices'");
}

BOOST_AUTO_TEST_CASE(gather_nd) {
  const std::string_view name = "gatherND";
  accept(name, {f32({2, 2, 3, 3, 4}), i32({5, 4, 3})}, {}, f32({5, 4, 3, 4}));
  accept(name, {f32({2, 3}), i32({2})}, {}, f32({}));
  accept(name, {f32({2, 3}), i32({1})}, {}, f32({3}));
  accept(name, {f32(Shape(max_rank, 1)), i32({5, max_rank})}, {}, f32({5}));
  for (const auto type : ops::type_sets::any.members()) {
    accept(name, {{type, {2, 3}}, i32({4, 2})}, {}, {type, {4}});
    if (is_index_type(type))
      accept(name, {f32({2, 3}), {type, {4, 1}}}, {}, f32({4, 3}));
    else
      refuse(name, {f32({2, 3}), {type, {4, 1}}}, {}, "operand 'indices'");
  }
  refuse(name, {f32({}), i32({1})}, {}, "operand 'input'");
  refuse(name, {f32({2}), i32({})}, {}, "operand 'indices'");
  refuse(name, {f32({2, 3}), i32({4, 3})}, {},
         "the last dimension of operand 'indices' is 3, expected at most the rank of operand "
         "'input', 2");
}

BOOST_AUTO_TEST_CASE(scatter_elements) {
  const std::string_view name = "scatterElements";
  const auto along = [](std::uint32_t axis) { return ScatterAttributes{axis}; };
  accept(name, {f32({3, 3}), i32({2, 3}), f32({2, 3})}, along(0), f32({3, 3}));
  accept(name, {f32({3, 3}), i32({3, 2}), f32({3, 2})}, along(1), f32({3, 3}));
  accept(name, {f32({3, 3}), i32({9, 3}), f32({9, 3})}, along(0), f32({3, 3}));
  for (const auto type : ops::type_sets::any.members()) {
    accept(name, {{type, {3}}, i32({2}), {type, {2}}}, along(0), {type, {3}});
    if (type != DataType::float32)
      refuse(name, {f32({3}), i32({2}), {type, {2}}}, along(0), "operand 'updates'");
    if (is_index_type(type))
      accept(name, {f32({3}), {type, {2}}, f32({2})}, along(0), f32({3}));
    else
      refuse(name, {f32({3}), {type, {2}}, f32({2})}, along(0), "operand 'indices'");
  }
  refuse(name, {f32({3, 3}), i32({2, 3}), f32({2, 3})}, along(2), "axis");
  refuse(name, {f32({}), i32({1}), f32({1})}, along(0), "operand 'input'");
  refuse(name, {f32({1}), i32({}), f32({1})}, along(0), "operand 'indices'");
  refuse(name, {f32({1}), i32({1}), f32({})}, along(0), "operand 'updates'");
  refuse(name, {f32({3, 3}), i32({3}), f32({2, 3})}, along(0), "operand 'indices' has rank 1");
  refuse(name, {f32({3, 3}), i32({2, 2}), f32({2, 2})}, along(0), "operand 'indices' has shape");
  refuse(name, {f32({3, 3}), i32({2, 3}), f32({6})}, along(0), "operand 'updates' has shape");
  refuse(name, {f32({3, 3}), i32({2, 3}), f32({3, 3})}, along(0),
         "operand 'updates' has shape [3, 3], expected [2, 3]");
}

BOOST_AUTO_TEST_CASE(scatter_nd) {
  const std::string_view name = "scatterND";
  accept(name, {f32({4, 4, 4}), i32({2, 1}), f32({2, 4, 4})}, {}, f32({4, 4, 4}));
  accept(name, {f32({4, 4}), i32({2}), f32({})}, {}, f32({4, 4}));
  accept(name, {f32({8}), i32({4, 1}), f32({4})}, {}, f32({8}));
  for (const auto type : ops::type_sets::any.members()) {
    accept(name, {{type, {8}}, i32({4, 1}), {type, {4}}}, {}, {type, {8}});
    if (type != DataType::float32)
      refuse(name, {f32({8}), i32({4, 1}), {type, {4}}}, {}, "operand 'updates'");
    if (is_index_type(type))
      accept(name, {f32({8}), {type, {4, 1}}, f32({4})}, {}, f32({8}));
    else
      refuse(name, {f32({8}), {type, {4, 1}}, f32({4})}, {}, "operand 'indices'");
  }
  refuse(name, {f32({}), i32({1, 1}), f32({1})}, {}, "operand 'input'");
  refuse(name, {f32({4}), i32({}), f32({4})}, {}, "operand 'indices'");
  refuse(name, {f32({4, 4, 4}), i32({2, 4}), f32({2})}, {},
         "the last dimension of operand 'indices' is 4");
  refuse(name, {f32({4, 4, 4}), i32({2, 1}), f32({2, 4, 3})}, {},
         "operand 'updates' has shape [2, 4, 3], expected [2, 4, 4]");
  refuse(name, {f32({4, 4, 4}), i32({2, 1}), f32({4, 4})}, {}, "operand 'updates'");
  // The slices would have too high a rank for any updates.
  refuse(name, {f32(Shape(max_rank, 1)), i32({1, 1, 1}), f32(Shape(max_rank, 1))}, {},
         "operand 'updates'");
}

BOOST_AUTO_TEST_CASE(scatter_reduce) {
  const std::string_view name = "scatterReduce";
  const ScatterReduceAttributes most{ScatterReduction::max};
  accept(name, {f32({4, 4, 4}), i32({2, 1}), f32({2, 4, 4})}, most, f32({4, 4, 4}));
  accept(name, {u8({4, 4}), i32({2}), u8({})}, most, u8({4, 4}));
  refuse(name, {f32({8}), i32({4, 1}), u8({4})}, most, "operand 'updates'");
  refuse(name, {f32({8}), f32({4, 1}), f32({4})}, most, "operand 'indices'");
  refuse(name, {f32({4, 4, 4}), i32({2, 4}), f32({2})}, most,
         "the last dimension of operand 'indices' is 4");
  refuse(name, {f32({4, 4, 4}), i32({2, 1}), f32({2, 4, 3})}, most,
         "operand 'updates' has shape [2, 4, 3], expected [2, 4, 4]");
}

BOOST_AUTO_TEST_SUITE_END()
