// Shape and data movement: the clauses of the public test suite.
#include "ops/dimensions.hpp"
#include "tests/ops/check.hpp"

using namespace polychron;
using namespace polychron::test;

BOOST_AUTO_TEST_SUITE(movement_rules)

namespace {
using Sizes = std::vector<std::uint32_t>;
constexpr std::uint32_t largest = 0xffff'ffff;

SliceAttributes slice(Sizes starts, Sizes sizes, std::optional<Sizes> strides = {}) {
  return {starts, sizes, strides};
}
SplitAttributes parts(std::uint32_t count, std::uint32_t axis) { return {{count}, true, axis}; }
SplitAttributes sizes(Sizes list, std::uint32_t axis) { return {list, false, axis}; }
}  // namespace

BOOST_AUTO_TEST_CASE(concat) {
  accept("concat", {f32({4, 4, 3})}, ConcatAttributes{2}, f32({4, 4, 3}));
  accept("concat", {f32({3, 1, 5}), f32({3, 2, 5})}, ConcatAttributes{1}, f32({3, 3, 5}));
  accept("concat", {f32({3, 5, 1}), f32({3, 5, 2}), f32({3, 5, 3})}, ConcatAttributes{2},
         f32({3, 5, 6}));
  accept("concat", {f32({1}), f32({1})}, ConcatAttributes{0}, f32({2}));
  refuse("concat", {}, ConcatAttributes{0}, "operands");
  refuse("concat", {f32({1}), i32({1})}, ConcatAttributes{0}, "operand 'inputs[1]'");
  refuse("concat", {f32({1}), f32({1, 1})}, ConcatAttributes{0}, "operand 'inputs[1]'");
  refuse("concat", {f32({1, 1}), f32({1, 1})}, ConcatAttributes{2}, "axis");
  refuse("concat", {f32({}), f32({})}, ConcatAttributes{0});
  refuse("concat", {f32({1, 2}), f32({1, 2}), f32({2, 2})}, ConcatAttributes{1},
         "operand 'inputs[2]'");
  refuse("concat", Descriptors(ops::max_tensor_count + 1, u8({1})), ConcatAttributes{0});
  accept("concat", Descriptors(ops::max_tensor_count, u8({1})), ConcatAttributes{0},
         u8({ops::max_tensor_count}));
  refuse("concat", Descriptors(3, u8({0x7fff'ffff})), ConcatAttributes{0});
}

BOOST_AUTO_TEST_CASE(expand) {
  accept("expand", {f32({})}, ExpandAttributes{{3, 4, 5}}, f32({3, 4, 5}));
  accept("expand", {f32({4})}, ExpandAttributes{{4}}, f32({4}));
  accept("expand", {f32({3, 1, 5})}, ExpandAttributes{{3, 4, 5}}, f32({3, 4, 5}));
  accept("expand", {f32({2, 5})}, ExpandAttributes{{3, 2, 5}}, f32({3, 2, 5}));
  refuse("expand", {f32({3, 6, 2})}, ExpandAttributes{{4, 3, 5}}, "operand 'input'");
  refuse("expand", {f32({5, 4})}, ExpandAttributes{{5}}, "operand 'input'");
  refuse("expand", {f32({1, 2, 1, 1})}, ExpandAttributes{{1, 2, quarter, 1}});
  refuse("expand", {f32({1, 2, 1, 1})}, ExpandAttributes{{1, 2, largest, largest}});
  refuse("expand", {f32({1})}, ExpandAttributes{{0}});
  refuse("expand", {f32({1})}, ExpandAttributes{Shape(max_rank + 1, 1)}, "rank");
}

BOOST_AUTO_TEST_CASE(pad) {
  const auto by = [](Sizes before, Sizes after, PaddingMode mode = PaddingMode::constant) {
    return PadAttributes{before, after, mode, 0.0};
  };
  accept("pad", {f32({2, 3})}, by({1, 2}, {1, 2}), f32({4, 7}));
  accept("pad", {f32({})}, by({}, {}), f32({}));
  accept("pad", {f32({3})}, by({2}, {2}, PaddingMode::reflection), f32({7}));
  accept("pad", {f32({3})}, by({9}, {9}, PaddingMode::edge), f32({21}));
  refuse("pad", {f32({2, 3})}, by({1}, {1, 2}, PaddingMode::edge), "beginningPadding");
  refuse("pad", {f32({2, 3})}, by({1, 2}, {1, 2, 3}, PaddingMode::reflection), "endingPadding");
  refuse("pad", {f32({3})}, by({3}, {0}, PaddingMode::reflection));
  refuse("pad", {f32({3})}, by({0}, {3}, PaddingMode::reflection));
  refuse("pad", {f32({2, 3})}, by({largest, 0}, {largest, 0}));
  refuse("pad", {f32({2, 3})}, by({0, quarter}, {0, 0}));
}

BOOST_AUTO_TEST_CASE(reshape) {
  accept("reshape", {f32({2, 3, 4})}, ReshapeAttributes{{3, 8}}, f32({3, 8}));
  accept("reshape", {f32({2, 3, 4})}, ReshapeAttributes{{24}}, f32({24}));
  accept("reshape", {f32({1})}, ReshapeAttributes{{1}}, f32({1}));
  accept("reshape", {f32({1})}, ReshapeAttributes{{}}, f32({}));
  accept("reshape", {f32({})}, ReshapeAttributes{{1}}, f32({1}));
  refuse("reshape", {f32({2, 4})}, ReshapeAttributes{{2, 4, 0}});
  refuse("reshape", {f32({2, 3, 4})}, ReshapeAttributes{{}}, "newShape");
  refuse("reshape", {f32({2, 3, 4})}, ReshapeAttributes{{3, 9}}, "newShape");
  // 2^16 times 2^16 times 2^16 times 2^16 is 0 in 64 bits.
  refuse("reshape", {f32({1})}, ReshapeAttributes{Shape(4, 1U << 16)}, "newShape");
}

BOOST_AUTO_TEST_CASE(slices) {
  accept("slice", {f32({3, 4, 5})}, slice({0, 1, 2}, {1, 2, 3}), f32({1, 2, 3}));
  accept("slice", {f32({10, 10})}, slice({0, 1}, {10, 9}, Sizes{3, 4}), f32({4, 3}));
  accept("slice", {f32({})}, slice({}, {}), f32({}));
  refuse("slice", {f32({})}, slice({0}, {1}));
  refuse("slice", {f32({3, 4, 5})}, slice({1, 2, 3}, {1, 1}), "sizes");
  refuse("slice", {f32({3, 4, 5})}, slice({1, 2, 3, 4}, {1, 1, 1}), "starts");
  refuse("slice", {f32({3, 4, 5})}, slice({0, 4, 4}, {1, 1, 1}));
  refuse("slice", {f32({3, 4, 5})}, slice({1, 2, 3}, {1, 0, 1}), "sizes");
  refuse("slice", {f32({3, 4, 5})}, slice({0, 1, 2}, {1, 2, 4}));
  refuse("slice", {f32({3, 4, 5})}, slice({largest, 0, 0}, {1, 1, 1}));
  refuse("slice", {f32({3})}, slice({0}, {3}, Sizes{1, 1}), "strides");
  refuse("slice", {f32({3})}, slice({0}, {3}, Sizes{0}), "strides");
}

BOOST_AUTO_TEST_CASE(split) {
  accept("split", {f32({2, 6})}, sizes({2}, 0), f32({2, 6}));
  const auto three = infer("split", {f32({2, 6})}, sizes({1, 2, 3}, 1));
  BOOST_TEST(show(three) == "float32 [2, 1], float32 [2, 2], float32 [2, 3]");
  const auto halves = infer("split", {f32({2, 6})}, parts(2, 1));
  BOOST_TEST(show(halves) == "float32 [2, 3], float32 [2, 3]");
  refuse("split", {f32({})}, parts(2, 0), "operand 'input'");
  refuse("split", {f32({2, 6})}, parts(2, 2), "axis");
  refuse("split", {f32({2, 6})}, parts(0, 0), "splits");
  refuse("split", {f32({2, 6})}, sizes({0}, 0), "splits");
  refuse("split", {f32({2, 6})}, sizes({}, 0), "splits");
  refuse("split", {f32({2, 5})}, parts(2, 1), "splits");
  refuse("split", {f32({2, 6})}, sizes({2, 2, 3}, 1), "splits");
  refuse("split", {u8({10000})}, parts(10000, 0), "splits");
  refuse("split", {f32({2, 6})}, sizes({largest, 7}, 1), "splits");
}

BOOST_AUTO_TEST_CASE(reverse) {
  const auto by = [](Sizes axes) { return ReverseAttributes{axes}; };
  for (const auto type : ops::type_sets::any.members()) {
    accept("reverse", {{type, {1, 2, 3}}}, ReverseAttributes{}, {type, {1, 2, 3}});
    accept("reverse", {{type, {1, 2, 3}}}, by({1, 0}), {type, {1, 2, 3}});
  }
  accept("reverse", {f32({})}, ReverseAttributes{}, f32({}));
  accept("reverse", {f32({})}, by({}), f32({}));
  accept("reverse", {f32({2, 3})}, by({}), f32({2, 3}));
  refuse("reverse", {f32({})}, by({0}), "axes");
  refuse("reverse", {f32({1, 2, 3})}, by({3}), "axes");
  refuse("reverse", {f32({1, 2, 3})}, by({4, 0}), "axes");
  refuse("reverse", {f32({1, 2, 3})}, by({1, largest}), "axes");
  refuse("reverse", {f32({1, 2, 3})}, by({1, 2, 1}), "axes is [1, 2, 1], expected different");
}

BOOST_AUTO_TEST_CASE(tile) {
  const auto by = [](Sizes repetitions) { return TileAttributes{repetitions}; };
  accept("tile", {f32({1, 2, 3, 4})}, by({1, 1, 1, 1}), f32({1, 2, 3, 4}));
  accept("tile", {f32({})}, by({}), f32({}));
  for (const auto type : ops::type_sets::any.members())
    accept("tile", {{type, {1, 2, 3, 4}}}, by({1, 2, 3, 4}), {type, {1, 4, 9, 16}});
  refuse("tile", {f32({1, 2, 3, 4})}, by({1, 1, 1}), "repetitions has 3 entries, expected 4");
  refuse("tile", {f32({})}, by({1}), "repetitions");
  refuse("tile", {f32({1, 2, 3, 4})}, by({1, 1, 0, 1}), "repetitions has a 0");
  refuse("tile", {f32({1, 2, 3, 4})}, by({1, 1, 1, largest}), "dimension 3 of the result");
  // 2^31 times 2^31 and 2^30 times 8 are small numbers in 32 bits.
  refuse("tile", {u8({1U << 30})}, by({1U << 31}), "dimension 0 of the result");
  refuse("tile", {u8({1U << 30})}, by({8}), "dimension 0 of the result");
  refuse("tile", {u8({1, 1, 1})}, by({1U << 30, 1U << 30, 16}), "result '");
  refuse("tile", {f32({1, 1})}, by({quarter, 5}), "result '");
}

BOOST_AUTO_TEST_CASE(triangular) {
  for (const auto type : ops::type_sets::any.members()) {
    accept("triangular", {{type, {2, 3, 4}}}, TriangularAttributes{}, {type, {2, 3, 4}});
    refuse("triangular", {{type, {}}}, TriangularAttributes{}, "operand 'input' has rank 0");
    refuse("triangular", {{type, {5}}}, TriangularAttributes{}, "operand 'input' has rank 1");
  }
  for (const std::int32_t diagonal : {-0x7fff'ffff - 1, -9, 0, 9, 0x7fff'ffff})
    for (const bool upper : {false, true})
      accept("triangular", {f32(Shape(max_rank, 2))}, TriangularAttributes{upper, diagonal},
             f32(Shape(max_rank, 2)));
}

BOOST_AUTO_TEST_CASE(transpose) {
  const auto by = [](Sizes permutation) { return TransposeAttributes{permutation}; };
  accept("transpose", {f32({1, 2, 3, 4})}, by({0, 2, 3, 1}), f32({1, 3, 4, 2}));
  accept("transpose", {f32({})}, by({}), f32({}));
  for (const auto type : ops::type_sets::any.members())
    accept("transpose", {{type, {1, 2, 3, 4}}}, TransposeAttributes{std::nullopt},
           {type, {4, 3, 2, 1}});
  refuse("transpose", {f32({1, 2, 3, 4})}, by({0, 2, 3}), "permutation");
  refuse("transpose", {f32({1, 2, 3, 4})}, by({0, 2, 3, 2}), "permutation");
  refuse("transpose", {f32({1, 2, 3, 4})}, by({0, 1, 2, 4}), "permutation");
  refuse("transpose", {f32({1, 2, 3, 4})}, by({0, 1, 2, largest}), "permutation");
}

BOOST_AUTO_TEST_SUITE_END()
