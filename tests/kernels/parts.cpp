// Steps in parts: the steps that are cut, and results that do not depend on the threads.
#include <boost/test/unit_test.hpp>
#include <string>

#include "kernels/cpu/cpu_backend.hpp"
#include "kernels/cpu/cut.hpp"
#include "kernels/team.hpp"
#include "tests/kernels/graphs.hpp"
#include "tests/kernels/problems.hpp"

namespace polychron {
namespace {

using kernels::Layout;
using kernels::Problem;
using ops::op;
using tests::GraphMaker;
using tests::ProblemMaker;
using tests::Runner;

/// A convolution, a depthwise one, attention with its heads side by side in memory and the steps
/// behind it in a transformer, and a classifier: steps that are cut along each dimension.
std::shared_ptr<const ops::Graph> network() {
  GraphMaker maker;
  const auto picture = maker.input({1, 24, 40, 40});
  Conv2dAttributes padded;
  padded.padding = {1, 1, 1, 1};
  auto x = maker.node(op("conv2d"), {picture, maker.random({40, 24, 3, 3}), maker.random({40})},
                      {1, 40, 40, 40}, padded);
  x = maker.node(op("relu"), {x}, {1, 40, 40, 40});
  auto depthwise = padded;
  depthwise.groups = 40;
  x = maker.node(op("conv2d"), {x, maker.random({40, 1, 3, 3})}, {1, 40, 40, 40}, depthwise);
  Pool2dAttributes pool;
  pool.window_dimensions = {{2, 2}};
  pool.strides = {2, 2};
  x = maker.node(op("maxPool2d"), {x}, {1, 40, 20, 20}, pool);
  maker.output(x);

  constexpr std::uint32_t tokens = 96, heads = 4, size = 64, width = heads * size;
  const auto text = maker.input({1, tokens, width});
  const auto projected = [&](ops::ValueId value) {
    auto y = maker.node(op("matmul"), {value, maker.random({width, width}, -0.1F, 0.1F)},
                        {1, tokens, width});
    y = maker.node(op("add"), {y, maker.random({width})}, {1, tokens, width});
    y = maker.node(op("reshape"), {y}, {1, tokens, heads, size},
                   ReshapeAttributes{{1, tokens, heads, size}});
    return y;
  };
  const auto headed = [&](ops::ValueId value, std::vector<std::uint32_t> order, Shape shape) {
    return maker.node(op("transpose"), {projected(value)}, std::move(shape),
                      TransposeAttributes{std::move(order)});
  };
  const auto q = headed(text, {0, 2, 1, 3}, {1, heads, tokens, size});
  const auto k = headed(text, {0, 2, 3, 1}, {1, heads, size, tokens});
  const auto v = headed(text, {0, 2, 1, 3}, {1, heads, tokens, size});
  auto scores = maker.node(op("matmul"), {q, k}, {1, heads, tokens, tokens});
  scores = maker.node(op("softmax"), {scores}, {1, heads, tokens, tokens}, SoftmaxAttributes{3});
  auto y = maker.node(op("matmul"), {scores, v}, {1, heads, tokens, size});
  y = maker.node(op("transpose"), {y}, {1, tokens, heads, size},
                 TransposeAttributes{{{0, 2, 1, 3}}});
  y = maker.node(op("reshape"), {y}, {1, tokens, width}, ReshapeAttributes{{1, tokens, width}});
  y = maker.node(op("matmul"), {y, maker.random({width, width}, -0.1F, 0.1F)}, {1, tokens, width});
  y = maker.node(op("add"), {y, maker.random({width})}, {1, tokens, width});
  y = maker.node(op("add"), {y, text}, {1, tokens, width});  // the residual
  y = maker.node(op("layerNormalization"), {y, maker.random({width}), maker.random({width})},
                 {1, tokens, width}, LayerNormalizationAttributes{{{2}}, 1e-5});
  y = maker.node(op("gelu"), {y}, {1, tokens, width});
  maker.output(y);

  const auto row = maker.input({1, 1024});
  maker.output(maker.node(op("gemm"), {row, maker.random({600, 1024}), maker.random({600})},
                          {1, 600}, GemmAttributes{1, 1, false, true}));
  return maker.share();
}

std::vector<std::vector<float>> results_of(Runner& runner) {
  runner.randomize(3);
  runner.run();
  return {runner.get<float>(0), runner.get<float>(1), runner.get<float>(2)};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(parts)

BOOST_AUTO_TEST_CASE(results_are_the_same_bits_for_any_number_of_threads) {
  const auto backend = kernels::make_cpu_backend();
  const auto graph = network();
  Runner alone(backend, graph);
  const auto expected = results_of(alone);
  for (const int threads : {1, 2, 3, 4, 7}) {
    Runner shared(backend, graph, std::make_shared<kernels::Team>(threads));
    for (int run = 0; run < 20; ++run)
      BOOST_TEST((results_of(shared) == expected), threads << " threads, run " << run);
  }
}

BOOST_AUTO_TEST_CASE(parts_make_the_whole) {
  const auto graph = network();
  Runner cut(kernels::make_cpu_backend(), graph);
  Runner whole(kernels::make_cpu_backend({.cut = false}), graph);
  Runner plain(kernels::make_cpu_backend({.optimize = false, .reference_only = true}), graph);
  const auto expected = results_of(plain);
  for (Runner* runner : {&cut, &whole}) {
    const auto actual = results_of(*runner);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      double worst = 0;
      for (std::size_t k = 0; k < expected[i].size(); ++k)
        worst = std::fmax(worst, std::fabs(double{actual[i][k]} - expected[i][k]));
      BOOST_TEST(worst < 1e-3, "output " << i << " is off by " << worst);
    }
  }
}

// Otherwise nobody would notice that one thread does it all.
BOOST_AUTO_TEST_CASE(a_team_runs_the_steps_that_are_in_parts) {
  const auto team = std::make_shared<kernels::Team>(2);
  const auto graph = network();
  const auto steps = kernels::make_cpu_backend()->compile(graph).value()->describe().size();
  Runner runner(kernels::make_cpu_backend(), graph, team);
  runner.run();
  BOOST_TEST(team->steps() == steps);
}

// Or others would be held against themselves.
BOOST_AUTO_TEST_CASE(a_plan_of_references_has_nothing_else) {
  const auto plan =
      kernels::make_cpu_backend({.optimize = false, .reference_only = true})->compile(network());
  for (const auto& step : plan.value()->describe())
    BOOST_TEST(step.starts_with("reference: "), step);
}

// Transposes and reshapes move nothing here, and are no steps.
BOOST_AUTO_TEST_CASE(every_large_step_is_in_parts) {
  const auto plan = kernels::make_cpu_backend()->compile(network()).value();
  for (const auto& step : plan->describe()) BOOST_TEST(step.ends_with(" parts"), step);
}

BOOST_AUTO_TEST_CASE(what_is_small_is_whole) {
  ProblemMaker maker(op("matmul"), 1);
  maker.input({1, 32}).constant({32, 64}).output({1, 64});
  BOOST_TEST(kernels::cut(maker.problem()).empty());
}

// A sum is never cut, nor are two channels of one block.
BOOST_AUTO_TEST_CASE(what_cannot_be_cut_is_whole) {
  ProblemMaker one(op("softmax"), 1);
  one.attributes(SoftmaxAttributes{0}).input({4096, 256}).output({4096, 256});
  BOOST_TEST(kernels::cut(one.problem()).empty());
  ProblemMaker channels(op("conv2d"), 1);
  channels.attributes(Conv2dAttributes{}).input({1, 64, 64, 64}).constant({16, 64, 1, 1});
  BOOST_TEST(kernels::cut(channels.output({1, 16, 64, 64}).problem()).empty());
}

// Kernels compute two blocks of channels together, where there is an even number of pairs. A kernel
// with steps over pixels collects them first, and in each part again.
BOOST_AUTO_TEST_CASE(parts_of_convolutions_are_as_wide_as_kernels_like_them) {
  struct {
    std::uint32_t in, out, size, stride;
    std::size_t parts;
  } const cases[]{{256, 64, 56, 1, 2}, {512, 128, 28, 1, 4}, {64, 256, 56, 1, 4},
                  {384, 96, 14, 1, 2}, {16, 96, 112, 1, 6},  {256, 512, 56, 2, 2},
                  {64, 128, 8, 1, 0}};
  for (const auto& c : cases) {
    ProblemMaker maker(op("conv2d"), 1);
    Conv2dAttributes a;
    a.strides = {c.stride, c.stride};
    maker.attributes(a).input({1, c.in, c.size, c.size}).constant({c.out, c.in, 1, 1});
    maker.output({1, c.out, c.size / c.stride, c.size / c.stride});
    BOOST_TEST(kernels::cut(maker.problem()).size() == c.parts,
               c.in << " to " << c.out << " channels of " << c.size << " x " << c.size);
  }
}

// Parts of one size that read the same weights are one kernel: the weights are kept once.
BOOST_AUTO_TEST_CASE(weights_are_kept_once) {
  for (const bool wide : {true, false}) {
    const std::uint32_t columns = wide ? 512 : 64;
    GraphMaker maker;
    const auto x = maker.input({512, 256});
    maker.output(maker.node(op("matmul"), {x, maker.random({256, columns})}, {512, columns}));
    const auto plan = kernels::make_cpu_backend()->compile(maker.share()).value();
    const auto bytes = std::size_t{256} * columns * sizeof(float);
    BOOST_TEST(plan->describe().at(0).ends_with(" parts"), plan->describe().at(0));
    BOOST_TEST(plan->constant_bytes() <= bytes + bytes / 8);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron
