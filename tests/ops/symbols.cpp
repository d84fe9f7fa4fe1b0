// Shape rules with dimensions that nobody knows yet: what passes, what is derived, and what is
// refused because it is known to be wrong.
#include "ops/symbols.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>

#include "ops/dimensions.hpp"
#include "tests/ops/check.hpp"
#include "tests/ops/random.hpp"
#include "tests/ops/random_calls.hpp"

using namespace polychron;
using namespace polychron::test;

BOOST_AUTO_TEST_SUITE(symbols)

namespace {

constexpr std::uint32_t n = 0x8000'0000U, m = n + 1, any = ops::derived;

/// Puts symbols in place of some sizes of the first `count` operands, sometimes one for equal
/// sizes. Gives their sizes.
std::map<std::uint32_t, std::uint32_t> hide(Descriptors& operands, std::size_t count,
                                            Random& random) {
  std::map<std::uint32_t, std::uint32_t> sizes;
  for (std::size_t i = 0; i < count; ++i) {
    if (operands[i] == absent) continue;
    for (auto& size : operands[i].shape) {
      if (random.coin()) continue;
      const auto same =
          std::ranges::find_if(sizes, [&](const auto& s) { return s.second == size; });
      const bool shared = same != sizes.end() && random.coin();
      const auto symbol = shared ? same->first : n + static_cast<std::uint32_t>(sizes.size());
      sizes.emplace(symbol, size);
      size = symbol;
    }
  }
  return sizes;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_symbol_passes_where_the_rule_moves_it) {
  accept("relu", {f32({1, n, 64})}, {}, f32({1, n, 64}));
  accept("transpose", {f32({n, 2, m})}, TransposeAttributes{}, f32({m, 2, n}));
  accept("matmul", {f32({2, n, 64}), f32({64, m})}, {}, f32({2, n, m}));
  accept("gemm", {f32({n, 4}), f32({4, 5})}, GemmAttributes{}, f32({n, 5}));
  accept("gather", {f32({30, 64}), i32({1, n})}, GatherAttributes{0}, f32({1, n, 64}));
  accept("reduceSum", {f32({n, m})}, ReduceAttributes{std::vector<std::uint32_t>{1}, false},
         f32({n}));
  accept("concat", {f32({n, 2}), f32({n, 3})}, ConcatAttributes{1}, f32({n, 5}));
  accept("pad", {f32({n, 2})}, PadAttributes{{0, 1}, {0, 0}}, f32({n, 3}));
  accept("tile", {f32({n, 2})}, TileAttributes{{1, 3}}, f32({n, 6}));
  accept("slice", {f32({n, 8})}, SliceAttributes{{0, 2}, {4, 5}}, f32({4, 5}));
  accept("averagePool2d", {f32({n, 8, m, m + 1})}, Pool2dAttributes{}, f32({n, 8, 1, 1}));
  accept("layerNormalization", {f32({1, n, 64}), f32({64})},
         LayerNormalizationAttributes{.axes = std::vector<std::uint32_t>{2}}, f32({1, n, 64}));
}

BOOST_AUTO_TEST_CASE(a_size_that_is_computed_from_a_symbol_is_derived) {
  accept("concat", {f32({n, 2}), f32({1, 2})}, ConcatAttributes{0}, f32({any, 2}));
  accept("pad", {f32({n, 2})}, PadAttributes{{1, 0}, {0, 0}}, f32({any, 2}));
  accept("tile", {f32({n, 2})}, TileAttributes{{2, 1}}, f32({any, 2}));
  accept("conv2d", {f32({n, 3, m, 9}), f32({4, 3, 3, 3})}, Conv2dAttributes{}, f32({n, 4, any, 7}));
  accept("convTranspose2d", {f32({n, 3, m, 9}), f32({3, 4, 3, 3})}, ConvTranspose2dAttributes{},
         f32({n, 4, any, 11}));
  accept("maxPool2d", {f32({1, 3, n, 9})},
         Pool2dAttributes{.window_dimensions = std::vector<std::uint32_t>{3, 3}},
         f32({1, 3, any, 7}));
  accept("resample2d", {f32({1, 3, n, 9})}, Resample2dAttributes{.scales = {2, 1}},
         f32({1, 3, any, 9}));
  BOOST_TEST((infer("split", {f32({n, 2})}, SplitAttributes{{2}, true, 0}) ==
              Descriptors{f32({any, 2}), f32({any, 2})}));
}

BOOST_AUTO_TEST_CASE(broadcasting_has_three_answers) {
  accept("add", {f32({n}), f32({n})}, {}, f32({n}));
  accept("add", {f32({n}), f32({1})}, {}, f32({n}));
  accept("add", {f32({1}), f32({n})}, {}, f32({n}));
  accept("add", {f32({n}), f32({7})}, {}, f32({7}));  // n is 1 or 7
  accept("add", {f32({n}), f32({m})}, {}, f32({any}));
  refuse("add", {f32({n, 3}), f32({n, 4})}, {}, "operand 'b'");
  accept("expand", {f32({n, 1})}, ExpandAttributes{{5, 6}}, f32({5, 6}));
  refuse("expand", {f32({n, 2})}, ExpandAttributes{{5, 6}}, "newShape");
}

BOOST_AUTO_TEST_CASE(what_is_known_to_be_wrong_is_refused_at_once) {
  accept("matmul", {f32({n, 64}), f32({m, 3})}, {}, f32({n, 3}));  // m may be 64
  refuse("matmul", {f32({n, 64}), f32({65, 3})}, {}, "rows");
  refuse("concat", {f32({n, 2}), f32({n, 3})}, ConcatAttributes{0}, "axis");
  refuse("conv2d", {f32({n, 3, 9, 9}), f32({4, 2, 3, 3})}, Conv2dAttributes{}, "input channels");
  refuse("softmax", {f32({n})}, SoftmaxAttributes{1}, "axis");
  refuse("slice", {f32({n, 4})}, SliceAttributes{{0, 2}, {1, 3}}, "ends at 5");
  refuse("gatherND", {f32({2, 3}), i32({4, n})}, {}, "rank depends");
}

BOOST_AUTO_TEST_CASE(reshape_cancels_equal_symbols) {
  BOOST_TEST(!ops::counts_differ({n, 6}, {2, n, 3}));
  BOOST_TEST(ops::counts_differ({n, 6}, {2, n, 4}));
  BOOST_TEST(!ops::counts_differ({n, 6}, {2, m, 4}));
  BOOST_TEST(!ops::counts_differ({n, n}, {n, 4}));
  BOOST_TEST(ops::counts_differ({2, 3}, {7}));
  accept("reshape", {f32({n, 6})}, ReshapeAttributes{{4, 3}}, f32({4, 3}));
}

BOOST_AUTO_TEST_CASE(a_number_above_every_size_is_no_symbol_in_an_attribute) {
  refuse("expand", {f32({1})}, ExpandAttributes{{n}}, "dimension");
  refuse("expand", {f32({1})}, ExpandAttributes{{any}}, "dimension");
  refuse("expand", {f32({m, 1})}, ExpandAttributes{{2, n}}, "dimension");
  refuse("reshape", {f32({2})}, ReshapeAttributes{{n}}, "");
}

BOOST_AUTO_TEST_CASE(names_stand_for_numbers_in_messages) {
  ops::Symbols symbols;
  const auto sequence = symbols.of({"sequence", 512}, "x_axis0");
  const auto place = symbols.of(Dimension::unnamed(), "x_axis1");
  BOOST_TEST(symbols.of({"sequence", 512}, "y_axis0") == sequence);
  BOOST_TEST(symbols.of(Dimension::unnamed(), "x_axis1") != place);
  BOOST_TEST(symbols.with_names("got " + to_string(Shape{2, sequence, place, ops::derived}) +
                                ", expected 2147483999") ==
             "got [2, sequence, x_axis1, ?], expected 2147483999");
  BOOST_CHECK_THROW(symbols.of({"sequence", 511}, ""), Error);
  BOOST_CHECK_THROW(symbols.of({"", 511}, ""), Error);
  BOOST_CHECK_THROW(symbols.of({"other", 0}, ""), Error);
}

// A rule with symbols in place of some sizes accepts what the sizes make right. What it knows of
// the results is what the sizes give.
BOOST_AUTO_TEST_CASE(symbols_in_place_of_sizes_change_no_answer) {
  const char* given = std::getenv("POLYCHRON_SEED");
  const std::uint64_t seed =
      given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  BOOST_TEST_MESSAGE("POLYCHRON_SEED=" << seed);
  Random random(seed);
  std::size_t known = 0, passed = 0, derived = 0;
  for (const auto& row : ops::rows()) {
    // The rank of its result is the last dimension of the indices.
    const bool coordinates =
        row.name == "gatherND" || row.name == "scatterND" || row.name == "scatterReduce";
    for (int i = 0; i < 200; ++i) {
      const auto call = random_call(row, random);
      auto operands = typed(row, call, random);
      const auto sizes = hide(operands, coordinates ? 1 : operands.size(), random);
      BOOST_TEST_CONTEXT(row.name << "(" << show(operands) << "), POLYCHRON_SEED=" << seed) {
        try {
          const auto results = infer(row.name, operands, call.attributes);
          BOOST_REQUIRE(results.size() == call.results.size());
          for (std::size_t r = 0; r < results.size(); ++r) {
            const auto& shape = results[r].shape;
            BOOST_REQUIRE(shape.size() == call.results[r].size());
            for (std::size_t axis = 0; axis < shape.size(); ++axis) {
              if (shape[axis] == any && ++derived > 0) continue;
              ++(ops::is_symbol(shape[axis]) ? passed : known);
              const auto size = ops::is_symbol(shape[axis]) ? sizes.at(shape[axis]) : shape[axis];
              BOOST_TEST(size == call.results[r][axis]);
            }
          }
        } catch (const Error& error) {
          BOOST_ERROR(error.what());
        }
      }
    }
  }
  BOOST_TEST_MESSAGE(known << " sizes are known, " << passed << " pass, " << derived << " derived");
  BOOST_TEST((known > 0 && passed > 0 && derived > 0));
}

BOOST_AUTO_TEST_SUITE_END()
