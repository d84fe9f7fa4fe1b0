// Windows that libraries compute slowly or not at all: over a picture of one column, with much
// padding, with many taps of few channels. Plans find fast steps for them, and the same results.
#include <array>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "kernels/cpu/cpu_backend.hpp"
#include "kernels/processor.hpp"
#include "ops/table.hpp"
#include "tests/kernels/convolutions.hpp"
#include "tests/kernels/graphs.hpp"

namespace polychron {
namespace {

using ops::op;
using tests::Convolution;
using tests::GraphMaker;
using tests::Runner;

/// The convolution between activations. `sums`: also adds a picture, and multiplies each channel
/// with a number. `weight`: all weights, and no activation behind.
GraphMaker network(const Convolution& c, bool sums, float weight = 0) {
  GraphMaker maker;
  const Shape out = c.result();
  const auto x = maker.node(op("tanh"), {maker.input(c.input())}, c.input());
  const auto filter = weight == 0
                          ? maker.random(c.filter())
                          : maker.constant<float>(
                                c.filter(), std::vector<float>(*element_count(c.filter()), weight));
  auto y = maker.node(op("conv2d"), {x, filter, maker.random({c.out})}, out, c.a);
  if (sums) {
    y = maker.node(op("add"), {y, maker.input(out)}, out);
    y = maker.node(op("mul"), {y, maker.random({c.out, 1, 1})}, out);
  }
  maker.output(weight == 0 ? maker.node(op("relu"), {y}, out) : y);
  return maker;
}

/// Compares with the reference. Returns the plan's steps.
std::string check(const GraphMaker& maker) {
  Runner planned(kernels::make_cpu_backend(), maker.share());
  Runner reference(kernels::make_cpu_backend({.optimize = false, .reference_only = true}),
                   maker.share());
  for (Runner* runner : {&planned, &reference}) {
    runner->randomize(5);
    runner->run();
  }
  std::string text;
  for (const auto& step : planned.plan().describe()) text += "\n  " + step;
  const auto actual = planned.get<float>(0), expected = reference.get<float>(0);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (std::isnan(expected[i])) {
      BOOST_REQUIRE_MESSAGE(std::isnan(actual[i]), i << ": " << actual[i] << text);
      continue;
    }
    BOOST_REQUIRE_MESSAGE(
        std::fabs(actual[i] - expected[i]) <= 2e-4F * (1 + std::fabs(expected[i])),
        i << ": " << actual[i] << ", expected " << expected[i] << text);
  }
  return text;
}

bool has(const std::string& steps, const char* part) {
  return steps.find(part) != std::string::npos;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(windows)

BOOST_AUTO_TEST_CASE(columns) {
  for (const auto& [in, out, groups] :
       {std::array{16U, 32U, 1U}, {3U, 20U, 1U}, {24U, 24U, 24U}, {32U, 32U, 2U}, {1U, 1U, 1U}})
    for (const auto& [window, stride, dilation] :
         {std::array{5U, 1U, 1U}, {4U, 2U, 1U}, {3U, 3U, 2U}, {1U, 1U, 1U}}) {
      Convolution c{2, in, out, 37, 1, window, 1};
      c.a.groups = groups;
      c.a.strides = {stride, 1};
      c.a.dilations = {dilation, 1};
      c.a.padding = {2, 1, 0, 0};
      for (const bool sums : {false, true})
        BOOST_TEST(!has(check(network(c, sums)), "reference:"), in << " to " << out);
      c.a.filter_layout = Conv2dFilterOperandLayout::ohwi;
      check(network(c, false));
    }
}

BOOST_AUTO_TEST_CASE(transposed_columns) {
  for (const std::uint32_t channels : {20U, 3U})
    for (const bool sums : {false, true}) {
      GraphMaker maker;
      const Shape out{1, channels, 24, 1};
      ConvTranspose2dAttributes a;
      a.strides = {2, 1};
      a.padding = {1, 1, 0, 0};
      const auto x = maker.node(op("tanh"), {maker.input({1, 16, 12, 1})}, {1, 16, 12, 1});
      auto y = maker.node(op("convTranspose2d"), {x, maker.random({16, channels, 4, 1})}, out, a);
      if (sums) y = maker.node(op("add"), {y, maker.input(out)}, out);
      maker.output(maker.node(op("relu"), {y}, out));
      check(maker);
    }
}

// The first four stand in trained models. Below AVX2 the library has only its reference for some.
BOOST_AUTO_TEST_CASE(much_padding) {
  const bool may_be_slow = kernels::vectors() < kernels::Vectors::avx2;
  std::vector<Convolution> all;
  const auto add = [&](std::uint32_t in, std::uint32_t out, std::uint32_t height,
                       std::uint32_t width, Shape window, Shape padding,
                       std::uint32_t dilation = 1) -> Convolution& {
    Convolution c{1, in, out, height, width, window[0], window[1]};
    c.a.padding = std::move(padding);
    c.a.dilations = {dilation, dilation};
    return all.emplace_back(c);
  };
  add(48, 32, 12, 13, {7, 7}, {6, 6, 6, 6}, 2);
  add(8, 8, 6, 45, {3, 39}, {1, 1, 19, 19});
  add(4, 32, 1, 60, {1, 9}, {0, 0, 4, 4});
  add(1, 1, 1, 450, {1, 401}, {0, 0, 200, 200});
  add(1, 16, 450, 1, {401, 1}, {200, 200, 0, 0});
  add(24, 24, 9, 30, {3, 9}, {1, 1, 8, 0}).a.groups = 24;
  add(16, 20, 5, 21, {5, 17}, {9, 0, 3, 12}).a.strides = {1, 2};
  for (const Convolution& c : all)
    for (const bool sums : {false, true}) {
      const auto steps = check(network(c, sums));
      BOOST_TEST((may_be_slow || !has(steps, "reference:")), steps);
    }
}

// Weights that are not finite do not meet the padding.
BOOST_AUTO_TEST_CASE(padding_beside_infinite_weights) {
  for (const float weight : {std::numeric_limits<float>::infinity(), std::nanf("")}) {
    Convolution c{1, 16, 16, 3, 40, 1, 9};
    c.a.padding = {0, 0, 8, 8};
    BOOST_TEST(!has(check(network(c, false, weight)), " pad "));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron
