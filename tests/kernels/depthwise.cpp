// Depthwise convolutions in loops of our own: their results, parts and rows, and the convolutions
// that they take.
#include <algorithm>
#include <bit>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>

#include "kernels/epilogue.hpp"
#include "kernels/fusion.hpp"
#include "ops/layouts.hpp"
#include "ops/table.hpp"
#include "tests/kernels/convolutions.hpp"
#include "tests/kernels/special_values.hpp"
#include "tests/kernels/wide_loops.hpp"

namespace polychron {
namespace {

using kernels::Layout;
using ops::op;
using tests::Convolution;
using tests::depthwise;
using tests::name_of;
using tests::Prepared;
using tests::ProblemMaker;
using tests::Random;
using tests::random_depthwise;
using tests::takes_depthwise;

using tests::floats::infinity;
using tests::floats::nan;

}  // namespace

BOOST_AUTO_TEST_SUITE(depthwise_convolution)

// Also by every other way, in parts and with guards behind what is written.
BOOST_AUTO_TEST_CASE(near_the_reference) {
  if (!tests::has_fused_loops()) return;
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    const auto maker = random_depthwise(seed);
    BOOST_TEST(takes_depthwise(maker.problem()), name_of("depthwise", seed));
    tests::check_implementations(maker, name_of("depthwise", seed));
  }
}

// The order of a sum is promised: it is the same in every group of pixels, and in every part of the
// work.
BOOST_AUTO_TEST_CASE(sums_are_in_the_order_of_taps) {
  if (!tests::has_fused_loops()) return;
  std::size_t added = 0, clamped = 0, biased = 0, layouts[4] = {}, ways[8] = {};
  for (std::uint32_t seed = 1000; seed < 1600; ++seed) {
    const auto maker = random_depthwise(seed);
    BOOST_TEST_REQUIRE(takes_depthwise(maker.problem()), name_of("depthwise", seed));
    const Prepared prepared(maker);
    const std::size_t wrong =
        tests::unlike(prepared.result(), tests::expected_by_sums(prepared, maker));
    BOOST_TEST(wrong == 0U, wrong << " numbers are wrong with seed " << seed << ": "
                                  << to_string(prepared.problem));
    const auto& a = std::get<Conv2dAttributes>(prepared.problem.attributes);
    const auto epilogue = kernels::epilogue_of(prepared.problem);
    added += epilogue->added > 0 ? 1U : 0U;
    biased += epilogue->bias > 0 ? 1U : 0U;
    clamped += epilogue->lowest > -infinity || epilogue->highest < infinity ? 1U : 0U;
    ++layouts[static_cast<std::size_t>(a.filter_layout)];
    const auto height = ops::filter_axes(a.filter_layout)[2];
    const std::size_t large = prepared.problem.inputs[1].descriptor.shape[height] == 5 ? 1 : 0;
    ++ways[large * 4 + (a.strides[0] - 1) * 2 + a.strides[1] - 1];
  }
  // The seeds must have made enough of each.
  for (const std::size_t count : {added, biased, clamped}) BOOST_TEST(count > 200U);
  for (const std::size_t count : layouts) BOOST_TEST(count > 100U);
  for (const std::size_t count : ways) BOOST_TEST(count > 40U);
}

// Groups of every length, at either edge and between.
BOOST_AUTO_TEST_CASE(rows_of_any_length) {
  if (!tests::has_fused_loops()) return;
  for (std::uint32_t width = 1; width <= 45; ++width)
    for (std::uint32_t way = 0; way < 16; ++way) {
      const std::uint32_t window = way % 2 == 0 ? 3 : 5;
      auto c = depthwise(18, 1 + way / 8, width, window);
      c.a.strides = {1 + way / 2 % 2, 1 + way / 4 % 2};
      c.a.padding = {window / 2, window / 2, width % window, (width + way) % window};
      if (c.result()[3] == 0) continue;
      const auto maker = c.maker(width, true);
      const Prepared prepared(maker);
      BOOST_TEST_REQUIRE(takes_depthwise(maker.problem()));
      BOOST_TEST(tests::unlike(prepared.result(), tests::expected_by_sums(prepared, maker)) == 0U,
                 "way " << way << " of width " << width);
    }
}

// A weight that is not finite meets no padding, and what lies beside the picture meets nobody.
BOOST_AUTO_TEST_CASE(special_values_are_seen_by_their_windows_alone) {
  if (!tests::has_fused_loops()) return;
  std::size_t not_finite = 0;
  for (std::uint32_t seed = 0; seed < 150; ++seed) {
    Random random(seed);
    auto c = depthwise(random.pick(2, 40), random.pick(2, 9), random.pick(2, 20),
                       random.chance() ? 3 : 5, random.pick(1, 2));
    for (auto& padding : c.a.padding) padding = random.pick(0, c.window_height - 1);
    if (c.result()[2] == 0 || c.result()[3] == 0) continue;
    const auto with_one = [&](const Shape& shape, bool special) {
      Buffer bytes(*element_count(shape) * sizeof(float));
      const auto numbers = bytes.as<float>();
      for (float& x : numbers) x = static_cast<float>(random.pick(1, 1000)) / 256;
      const float specials[] = {nan, infinity, -infinity};
      if (special)
        numbers[random.pick(0, static_cast<std::uint32_t>(numbers.size()) - 1)] =
            specials[random.pick(0, 2)];
      return bytes;
    };
    ProblemMaker maker(op("conv2d"), seed);
    maker.attributes(c.a).given({DataType::float32, c.input()}, with_one(c.input(), seed % 3 != 0));
    maker.constant(c.filter()).output(c.result());
    auto values = tests::copies_of(maker);
    values[1] = with_one(c.filter(), seed % 3 != 1);
    auto problem = maker.problem();
    problem.inputs[1].constant = std::make_shared<const Buffer>(Buffer::copy_of(values[1].bytes()));
    BOOST_TEST_REQUIRE(takes_depthwise(problem), name_of("depthwise", seed));
    const auto all = kernels::implementations(op("conv2d"));
    const auto way = std::ranges::find_if(
        all, [&](const auto& w) { return w.prepare(tests::in_blocks(problem)).has_value(); });
    const auto got = tests::run_kernel(*way, problem, values, kernels::picture_layout());
    const auto expected = tests::run_kernel(all.back(), problem, values);
    const auto a = got.outputs[0].as<float>(), e = expected.outputs[0].as<float>();
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < e.size(); ++i) {
      not_finite += std::isfinite(e[i]) ? 0U : 1U;
      wrong += std::isfinite(e[i]) ? !(std::abs(a[i] - e[i]) < 1e-3F)
                                   : !(a[i] == e[i] || (std::isnan(a[i]) && std::isnan(e[i])));
    }
    BOOST_TEST(wrong == 0U, wrong << " are wrong with seed " << seed);
  }
  BOOST_TEST(not_finite > 1000U);
}

// A bound does not hide that something went wrong, and one that is NaN is none.
BOOST_AUTO_TEST_CASE(bounds_let_nan_pass) {
  if (!tests::has_fused_loops()) return;
  for (const auto& bounds : {ClampAttributes{0.5, 1.5}, ClampAttributes{double{nan}, 1.5},
                             ClampAttributes{0.5, double{nan}}, ClampAttributes{}}) {
    auto maker = depthwise(20, 4, 9).maker(2, true);
    maker.then(op("clamp"), bounds);
    auto values = tests::copies_of(maker);
    values[0].as<float>()[4] = nan;
    const Prepared prepared(maker, values);
    const auto result = prepared.result();
    BOOST_TEST(tests::unlike(result, tests::expected_by_sums(prepared, maker)) == 0U);
    BOOST_TEST(std::ranges::count_if(result.as<float>(), [](float x) { return std::isnan(x); }) ==
               6);
  }
}

// The next layer reads what fills the last block of channels, and multiplies it with zeros.
BOOST_AUTO_TEST_CASE(what_fills_a_block_stays_zero) {
  if (!tests::has_fused_loops()) return;
  const std::size_t block = kernels::channel_block(kernels::picture_layout());
  for (const std::uint32_t channels : {2U, 7U, 15U, 17U, 24U, 31U})
    for (const float special : {1.0F, nan, infinity}) {
      const auto c = depthwise(channels, 5, 9);
      auto maker = c.maker(6, true);
      maker.then_with(op("add"), c.result()).then(op("clamp"), ClampAttributes{0.5, {}});
      Prepared prepared(maker);
      // All of the memory: its writer may have done worse.
      for (const std::size_t i : {0U, 3U})
        std::ranges::fill(prepared.inputs[i].as<float>(), special);
      const auto result = prepared.result();
      const auto numbers = result.as<float>();
      std::size_t wrong = 0, zeros = 0;
      for (std::size_t i = 0; i < numbers.size(); ++i)
        if (i / (5 * 9 * block) * block + i % block >= channels)
          wrong += std::bit_cast<std::uint32_t>(numbers[i]) == 0 ? 0U : 1U;
        else
          zeros += numbers[i] == 0 ? 1U : 0U;
      BOOST_TEST(wrong == 0U, channels << " channels, " << special);
      BOOST_TEST(zeros == 0U, channels << " channels, " << special);
    }
}

BOOST_AUTO_TEST_CASE(what_is_no_such_convolution_is_refused) {
  if (!tests::has_fused_loops()) return;
  const auto taken = [](auto&& change) {
    Convolution c = depthwise(32, 9, 11);
    change(c);
    return takes_depthwise(c.maker(1).problem());
  };
  BOOST_TEST(taken([](auto&) {}));
  BOOST_TEST(taken([](auto& c) { c.a.strides = {2, 1}; }));
  BOOST_TEST(!taken([](auto& c) { c.a.strides = {3, 1}; }));
  BOOST_TEST(!taken([](auto& c) { c.a.strides = {1, 3}; }));
  BOOST_TEST(!taken([](auto& c) { c.a.dilations = {1, 2}; }));
  BOOST_TEST(taken([](auto& c) { c.a.padding = {2, 0, 2, 2}; }));
  BOOST_TEST(!taken([](auto& c) { c.a.padding[1] = 3; }));
  BOOST_TEST(taken([](auto& c) { c.window_height = c.window_width = 5; }));
  BOOST_TEST(!taken([](auto& c) { c.window_height = 5; }));
  BOOST_TEST(!taken([](auto& c) { c.window_height = c.window_width = 7; }));
  BOOST_TEST(!taken([](auto& c) { c.window_height = c.window_width = 1; }));
  BOOST_TEST(!taken([](auto& c) { c.out = 64; }), "two results of a channel");
  BOOST_TEST(!taken([](auto& c) { c.a.groups = 2; }), "groups of channels");

  const auto c = depthwise(32, 9, 11);
  const auto with = [&](auto&& add) {
    auto maker = c.maker(1);
    add(maker);
    return takes_depthwise(maker.problem());
  };
  BOOST_TEST(with([&](auto& m) { m.then_with(op("add"), c.result()).then(op("relu")); }));
  BOOST_TEST(!with([&](auto& m) { m.then_with(op("add"), {1, 32, 1, 1}); }));
  BOOST_TEST(!with([&](auto& m) { m.then(op("hardSwish")); }));

  const auto own = [](const kernels::Problem& problem) {
    for (const auto& way : kernels::implementations(problem.op))
      if (way.prepare(problem)) return way.cuts_itself;
    return false;
  };
  const auto usual = tests::in_blocks(c.maker(1).problem());
  BOOST_TEST(own(usual));
  for (const Layout other : {Layout::plain, Layout::blocked8, Layout::blocked16}) {
    if (other == kernels::picture_layout()) continue;
    auto problem = usual;
    problem.inputs[0].layout = problem.outputs[0].layout = other;
    BOOST_TEST(!own(problem));
  }
  auto unknown = usual;
  unknown.inputs[1].constant.reset();
  BOOST_TEST(!own(unknown), "a filter that is not known");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron
