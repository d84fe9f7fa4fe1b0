// The results of passes on small graphs, which compute the same as the unfused reference.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>

#include "kernels/cpu/cpu_backend.hpp"
#include "kernels/fusion.hpp"
#include "kernels/vectors.hpp"
#include "ops/table.hpp"
#include "tests/kernels/graphs.hpp"

namespace polychron {
namespace {

using ops::op;
using ops::ValueId;
using tests::GraphMaker;
using tests::Runner;

/// Compiles with passes, compares with the reference without, and returns the plan's steps.
std::vector<std::string> check(const GraphMaker& maker, double tolerance = 1e-4) {
  Runner fused(kernels::make_cpu_backend(), maker.share());
  Runner plain(kernels::make_cpu_backend({.optimize = false, .reference_only = true}),
               maker.share());
  for (Runner* runner : {&fused, &plain}) {
    runner->randomize(11);
    runner->run();
  }
  const auto actual = fused.get<float>(0), expected = plain.get<float>(0);
  for (std::size_t i = 0; i < expected.size(); ++i)
    BOOST_REQUIRE_SMALL(
        (static_cast<double>(actual[i]) - expected[i]) / std::fmax(1, std::fabs(expected[i])),
        tolerance);
  return fused.plan().describe();
}

bool mentions(const std::string& step, const std::string& text) {
  return step.find(text) != std::string::npos;
}

int count(const std::vector<std::string>& steps, const std::string& text) {
  int found = 0;
  for (const std::string& step : steps) found += mentions(step, text) ? 1 : 0;
  return found;
}

/// x * clip(x + 3, 0, 6) / 6, as exporters write it.
ValueId hard_swish(GraphMaker& maker, ValueId x, const Shape& shape) {
  const auto three = maker.constant<float>({}, {3}), six = maker.constant<float>({1}, {6});
  const auto shifted = maker.node(op("add"), {x, three}, shape);
  const auto clipped = maker.node(op("clamp"), {shifted}, shape, ClampAttributes{0.0, 6.0});
  return maker.node(op("div"), {maker.node(op("mul"), {x, clipped}, shape), six}, shape);
}

ValueId convolution(GraphMaker& maker, ValueId x, std::uint32_t in, std::uint32_t out,
                    const Shape& shape) {
  return maker.node(op("conv2d"), {x, maker.random({out, in, 1, 1}), maker.random({out})}, shape,
                    Conv2dAttributes{});
}

/// An attention of four heads, as exporters write it.
struct AttentionMaker {
  GraphMaker maker;
  std::uint32_t tokens = 9;
  double offset = 0;  ///< added to all scores
  bool masked = true;
  bool keeps_weights = false;    ///< they are an output as well
  bool keeps_scores = false;     ///< the scores are an output as well
  bool softens_queries = false;  ///< the softmax is not over keys

  void make() {
    const Shape flat{1, tokens, 24}, split{1, tokens, 4, 6}, heads{1, 4, tokens, 6},
        keys{1, 4, 6, tokens}, scores{1, 4, tokens, tokens};
    const auto x = maker.input(flat), mask = maker.input({1, 1, 1, tokens});
    const auto head = [&](const Shape& shape, std::vector<std::uint32_t> order) {
      const auto y = maker.node(op("matmul"), {x, maker.random({24, 24})}, flat);
      const auto parts = maker.node(op("reshape"), {y}, split, ReshapeAttributes{split});
      return maker.node(op("transpose"), {parts}, shape, TransposeAttributes{order});
    };
    const auto q = head(heads, {0, 2, 1, 3}), k = head(keys, {0, 2, 3, 1}),
               v = head(heads, {0, 2, 1, 3});
    auto weights = maker.node(op("matmul"), {q, k}, scores);
    weights = maker.node(op("linear"), {weights}, scores, LinearAttributes{0.4, offset});
    if (masked) weights = maker.node(op("add"), {weights, mask}, scores);
    const auto scored = weights;
    weights =
        maker.node(op("softmax"), {weights}, scores, SoftmaxAttributes{softens_queries ? 2U : 3U});
    const auto context = maker.node(op("matmul"), {weights, v}, heads);
    const auto back =
        maker.node(op("transpose"), {context}, split, TransposeAttributes{{{0, 2, 1, 3}}});
    maker.output(maker.node(op("reshape"), {back}, flat, ReshapeAttributes{flat}));
    if (keeps_weights) maker.output(weights);
    if (keeps_scores) maker.output(scored);
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(passes)

BOOST_AUTO_TEST_CASE(constants_are_folded) {
  GraphMaker maker;
  const auto x = maker.input({2, 3});
  const auto c = maker.node(op("exp"), {maker.random({2, 3})}, {2, 3});
  maker.output(maker.node(op("add"), {x, c}, {2, 3}));
  const auto steps = check(maker);
  BOOST_TEST(steps.size() == 1U);
}

// A few bytes may ask for much. Not all of it is made or computed while a graph is built.
BOOST_AUTO_TEST_CASE(folding_has_bounds) {
  GraphMaker large;
  const Shape shape{1 << 21};
  const auto one = large.constant<float>({1}, {1});
  for (int i = 0; i < 20; ++i)
    large.output(large.node(op("expand"), {one}, shape, ExpandAttributes{shape}));
  Runner runner(kernels::make_cpu_backend(), large.share());
  BOOST_TEST(runner.plan().constant_bytes() <= (std::size_t{64} << 20) + 64);
  BOOST_TEST(count(runner.plan().describe(), "expand") == 12);

  GraphMaker costly;
  const Shape square{2000, 2000};
  auto product = costly.node(op("expand"), {costly.constant<float>({1}, {0.001F})}, square,
                             ExpandAttributes{square});
  for (int i = 0; i < 6; ++i) product = costly.node(op("matmul"), {product, product}, square);
  costly.output(product);
  Runner slow(kernels::make_cpu_backend(), costly.share());
  BOOST_TEST(count(slow.plan().describe(), "matmul") == 6);
}

// A filter with many readers is copied for each reader that has a factor of its own. The bound is
// 64 MiB and the graph's own constants, here 1 MiB and some.
BOOST_AUTO_TEST_CASE(scaling_filters_has_a_bound) {
  GraphMaker maker;
  const auto filter = maker.random({512, 512}), factor = maker.constant<float>({1}, {1.5F});
  auto x = maker.input({1, 512});
  for (int i = 0; i < 90; ++i)
    x = maker.node(op("mul"), {maker.node(op("matmul"), {x, filter}, {1, 512}), factor}, {1, 512});
  maker.output(x);
  Runner runner(kernels::make_cpu_backend(), maker.share());
  BOOST_TEST(count(runner.plan().describe(), "linear") == 90 - 65);
}

BOOST_AUTO_TEST_CASE(hard_swish_fuses_into_the_convolution) {
  GraphMaker maker;
  const Shape shape{1, 32, 6, 5};
  const auto y = convolution(maker, maker.input({1, 16, 6, 5}), 16, 32, shape);
  maker.output(hard_swish(maker, y, shape));
  const auto steps = check(maker);
  BOOST_TEST(count(steps, "conv2d+hardSwish") == 1);
  BOOST_TEST(count(steps, "clamp") + count(steps, "div") == 0);
}

BOOST_AUTO_TEST_CASE(swish_and_gelu_are_recognised) {
  GraphMaker maker;
  const Shape shape{4, 8};
  const auto x = maker.input(shape);
  const auto y = maker.node(op("matmul"), {x, maker.random({8, 8})}, shape);
  const auto s = maker.node(op("mul"), {y, maker.node(op("sigmoid"), {y}, shape)}, shape);
  const auto z = maker.node(op("matmul"), {s, maker.random({8, 8})}, shape);
  const auto root = maker.constant<float>({}, {std::sqrt(2.0F)});
  const auto e = maker.node(op("erf"), {maker.node(op("div"), {z, root}, shape)}, shape);
  const auto one = maker.constant<float>({}, {1}), half = maker.constant<float>({}, {0.5F});
  const auto g = maker.node(op("mul"), {z, maker.node(op("add"), {e, one}, shape)}, shape);
  maker.output(maker.node(op("mul"), {g, half}, shape));
  const auto steps = check(maker);
  BOOST_TEST(mentions(steps[0], "matmul+swish"));
  BOOST_TEST(steps.size() <= 3U);  // gelu is a step of its own where the library's is not taken
  BOOST_TEST(mentions(steps.back(), "gelu"));
}

// An activation whose parts are also used elsewhere keeps them.
BOOST_AUTO_TEST_CASE(shared_parts_stay) {
  GraphMaker maker;
  const Shape shape{4, 8};
  const auto x = maker.input(shape);
  const auto s = maker.node(op("sigmoid"), {x}, shape);
  maker.output(maker.node(op("mul"), {x, s}, shape));
  maker.output(s);
  const auto steps = check(maker);
  BOOST_TEST(count(steps, "swish") == 0);
  BOOST_TEST(steps.size() == 2U);
}

BOOST_AUTO_TEST_CASE(layer_normalization_is_recognised) {
  GraphMaker maker;
  const Shape shape{2, 5, 12}, reduced{2, 5, 1};
  const auto x = maker.input(shape);
  const ReduceAttributes last{{{2}}, true};
  const auto mean = maker.node(op("reduceMean"), {x}, reduced, last);
  const auto centred = maker.node(op("sub"), {x, mean}, shape);
  const auto two = maker.constant<float>({}, {2}), epsilon = maker.constant<float>({}, {1e-5F});
  const auto square = maker.node(op("pow"), {centred, two}, shape);
  const auto variance = maker.node(op("reduceMean"), {square}, reduced, last);
  const auto shifted = maker.node(op("add"), {variance, epsilon}, reduced);
  const auto root = maker.node(op("sqrt"), {shifted}, reduced);
  const auto y = maker.node(op("div"), {centred, root}, shape);
  const auto scaled = maker.node(op("mul"), {y, maker.random({12})}, shape);
  maker.output(maker.node(op("add"), {scaled, maker.random({12})}, shape));
  const auto steps = check(maker);
  BOOST_TEST(steps.size() == 1U);
  BOOST_TEST(mentions(steps[0], "layerNormalization"));
}

BOOST_AUTO_TEST_CASE(affine_goes_into_weights) {
  GraphMaker maker;
  const Shape shape{1, 6, 5, 5};
  const auto y = convolution(maker, maker.input({1, 4, 5, 5}), 4, 6, shape);
  const auto n = maker.node(
      op("batchNormalization"),
      {y, maker.random({6}), maker.random({6}, 0.5F, 2), maker.random({6}), maker.random({6})},
      shape, BatchNormalizationAttributes{});
  const auto scaled = maker.node(op("mul"), {maker.constant<float>({1}, {2.5F}), n}, shape);
  maker.output(maker.node(op("add"), {scaled, maker.random({1, 6, 1, 1})}, shape));
  const auto steps = check(maker);
  BOOST_TEST(count(steps, "conv2d") == 1);
  BOOST_TEST(count(steps, "batchNormalization") + count(steps, "mul") + count(steps, "add") == 0);
}

BOOST_AUTO_TEST_CASE(residual_sum_fuses_into_the_later_convolution) {
  GraphMaker maker;
  const Shape shape{1, 16, 7, 7};
  const auto x = maker.input(shape);
  const auto a = convolution(maker, x, 16, 16, shape);
  const auto b = convolution(maker, a, 16, 16, shape);
  const auto sum = maker.node(op("add"), {a, b}, shape);
  maker.output(maker.node(op("relu"), {sum}, shape));
  const auto steps = check(maker);
  BOOST_TEST(count(steps, "conv2d+add+relu") == 1);
}

BOOST_AUTO_TEST_CASE(layouts_change_at_the_edges_only) {
  GraphMaker maker;
  const Shape shape{1, 48, 8, 8};
  auto x = maker.input(shape);
  for (int i = 0; i < 3; ++i) x = convolution(maker, x, 48, 48, shape);
  const auto pooled = maker.node(op("averagePool2d"), {x}, {1, 48, 1, 1}, Pool2dAttributes{});
  maker.output(maker.node(op("mul"), {x, pooled}, shape));
  const bool blocks = kernels::picture_layout() != kernels::Layout::plain;  // an old processor's
  BOOST_TEST(count(check(maker, 1e-3), "reorder") == (blocks ? 2 : 0));
}

// In blocks the small operand comes second: where it must come first, the picture is plain.
BOOST_AUTO_TEST_CASE(small_first_operands_keep_pictures_plain) {
  for (const auto id : {op("sub"), op("div"), op("mul")}) {
    GraphMaker maker;
    const Shape shape{2, 20, 3, 4};
    const auto x = convolution(maker, maker.input({2, 16, 3, 4}), 16, 20, shape);
    const auto y = maker.node(op("exp"), {x}, shape);
    const auto small = maker.node(id, {maker.random({4}), y}, shape);
    maker.output(maker.node(op("add"), {small, y}, shape));
    check(maker);
  }
}

// Channels that do not fill blocks, through everything that works in blocks.
BOOST_AUTO_TEST_CASE(padded_blocks_stay_clean) {
  GraphMaker maker;
  const Shape shape{2, 20, 6, 6}, vector{2, 20, 1, 1}, both{2, 40, 6, 6}, big{2, 40, 12, 12};
  const auto x = convolution(maker, maker.input({2, 5, 6, 6}), 5, 20, shape);
  const auto e = maker.node(op("exp"), {x}, shape);
  const auto pooled = maker.node(op("averagePool2d"), {e}, vector, Pool2dAttributes{});
  const auto gate = maker.node(op("sigmoid"), {convolution(maker, pooled, 20, 20, vector)}, vector);
  const auto gated = maker.node(op("add"), {maker.node(op("mul"), {e, gate}, shape), e}, shape);
  const auto joined = maker.node(op("concat"), {gated, x}, both, ConcatAttributes{1});
  Resample2dAttributes twice;
  twice.sizes = {{12, 12}};
  const auto resampled = maker.node(op("resample2d"), {joined}, big, twice);
  const auto y = convolution(maker, resampled, 40, 3, {2, 3, 12, 12});
  maker.output(y);
  check(maker);
}

BOOST_AUTO_TEST_CASE(transposed_convolutions_become_convolutions) {
  for (const std::uint32_t channels : {1U, 5U, 24U}) {
    GraphMaker maker;
    ConvTranspose2dAttributes twice;
    twice.strides = {2, 2};
    const Shape out{1, channels, 10, 12};
    const auto x = maker.input({1, 20, 5, 6});
    const auto y =
        maker.node(op("convTranspose2d"),
                   {x, maker.random({20, channels, 2, 2}), maker.random({channels})}, out, twice);
    maker.output(maker.node(op("sigmoid"), {y}, out));
    const auto steps = check(maker);
    BOOST_TEST(count(steps, "conv2d+sigmoid") == 1);
    BOOST_TEST(count(steps, "depth_to_space") == 1);
  }
}

// The transposes around both products move nothing, the mask and the scale are part of it.
BOOST_AUTO_TEST_CASE(attention_is_one_step) {
  for (const bool masked : {false, true}) {
    AttentionMaker made{.maker = {}, .masked = masked};
    made.make();
    const auto steps = check(made.maker);
    BOOST_TEST(count(steps, "transpose float32") == 0);
    if (!kernels::has_fused_vectors()) continue;
    BOOST_TEST(steps.size() == 4U);
    BOOST_TEST(count(steps, "] attention float32") == 1);
    // A search for any of the three finds it.
    BOOST_TEST(count(steps, masked ? "[n14, n17, n18] attention" : "[n14, n16, n17] attention") ==
               1);
  }
}

// It would not compute the same, or would leave something out.
BOOST_AUTO_TEST_CASE(other_products_and_softmaxes_stay_three_steps) {
  std::vector<AttentionMaker> others(5);
  others[0].keeps_weights = true;
  others[1].softens_queries = true;
  others[2].offset = 0.5;
  others[3].tokens = 7;  // too few to make panels for
  others[4].keeps_scores = true;
  for (auto& other : others) {
    other.make();
    const auto steps = check(other.maker);
    BOOST_TEST(steps.size() == 6U);
    BOOST_TEST(count(steps, "transpose float32") == 0);
    BOOST_TEST(count(steps, "matmul+linear+add") == 1);
    BOOST_TEST(count(steps, "attention") == 0);
  }
}

BOOST_AUTO_TEST_CASE(parts_that_lie_together_are_views) {
  GraphMaker maker;
  const auto x = maker.input({3, 4, 5});
  const auto y = maker.node(op("relu"), {x}, {3, 4, 5});
  SliceAttributes a;
  a.starts = {1, 0, 0};
  a.sizes = {1, 4, 5};
  const auto part = maker.node(op("slice"), {y}, {1, 4, 5}, a);
  a.starts = {0, 1, 0};
  a.sizes = {1, 2, 5};
  const auto inner = maker.node(op("slice"), {part}, {1, 2, 5}, a);
  maker.output(maker.node(op("neg"), {inner}, {1, 2, 5}));
  maker.output(part);
  const auto steps = check(maker);
  BOOST_TEST(count(steps, "slice") == 0);
}

// As in masks: no attribute can hold them.
BOOST_AUTO_TEST_CASE(infinite_scalars_stay_operands) {
  const float infinity = std::numeric_limits<float>::infinity();
  GraphMaker maker;
  const auto x = maker.input({2, 3});
  const auto masked = maker.node(op("add"), {x, maker.constant<float>({1}, {-infinity})}, {2, 3});
  const auto again = maker.node(op("add"), {masked, maker.constant<float>({1}, {1})}, {2, 3});
  maker.output(maker.node(op("relu"), {again}, {2, 3}));
  check(maker);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron
