// Convolutions as products with panels of the filter: their results, and the convolutions they
// take.
#include <algorithm>
#include <bit>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>

#include "kernels/epilogue.hpp"
#include "kernels/fusion.hpp"
#include "kernels/vectors.hpp"
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
using tests::Prepared;
using tests::ProblemMaker;
using tests::Random;
using tests::takes_panels;

using tests::floats::infinity;
using tests::floats::nan;

/// A 3x3 convolution by two pixels, padded. On AVX2 by one, with padding that minimal filtering
/// does not take.
Convolution strided(std::uint32_t in, std::uint32_t out, std::uint32_t height,
                    std::uint32_t width) {
  Convolution c{1, in, out, height, width, 3, 3};
  c.a.strides.assign(2, tests::panel_stride());
  c.a.padding.assign(4, 3 - tests::panel_stride());
  return c;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(panel_convolution)

// Also by every other way, in parts and with guards behind what is written.
BOOST_AUTO_TEST_CASE(near_the_reference) {
  if (!tests::has_fused_loops()) return;
  std::size_t taken = 0;
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    const auto maker = tests::random_convolution(seed);
    taken += takes_panels(maker.problem()) ? 1U : 0U;
    tests::check_implementations(maker, tests::name_of("panels", seed));
  }
  BOOST_TEST(taken > 55U);  // some are filtered minimally
}

// The order of a sum is promised: it is the same in every group and part. To the last bit
// there is no tolerance that something small could hide in.
BOOST_AUTO_TEST_CASE(sums_are_in_the_order_of_taps_and_channels) {
  if (!tests::has_fused_loops()) return;
  std::size_t added = 0, clamped = 0, biased = 0, layouts[4] = {}, without_taps = 0;
  for (std::uint32_t seed = 1000; seed < 1400; ++seed) {
    const auto maker = tests::random_convolution(seed);
    const Prepared prepared(maker);
    if (tests::first_way(maker.problem()) == kernels::by_minimal_filtering) continue;
    BOOST_TEST_REQUIRE(takes_panels(maker.problem()), tests::name_of("panels", seed));
    const auto expected = tests::expected_by_sums(prepared, maker);
    const std::size_t wrong = tests::unlike(prepared.result(), expected);
    BOOST_TEST(wrong == 0U, wrong << " numbers are wrong with seed " << seed << ": "
                                  << to_string(prepared.problem));
    const auto& a = std::get<Conv2dAttributes>(prepared.problem.attributes);
    const auto epilogue = kernels::epilogue_of(prepared.problem);
    added += epilogue->added > 0 ? 1U : 0U;
    biased += epilogue->bias > 0 ? 1U : 0U;
    clamped += epilogue->lowest > 0 || epilogue->highest < infinity ? 1U : 0U;
    ++layouts[static_cast<std::size_t>(a.filter_layout)];
    const Shape& filter = prepared.problem.inputs[1].descriptor.shape;
    const auto height = filter[ops::filter_axes(a.filter_layout)[2]];
    without_taps += a.padding[0] > (height - 1) * a.dilations[0] ? 1U : 0U;
  }
  // The seeds must have made enough of each.
  for (const std::size_t count : {added, biased, clamped, without_taps}) BOOST_TEST(count > 40U);
  for (const std::size_t count : layouts) BOOST_TEST(count > 40U);
}

// Pixels are computed in groups: long ones, and one or two of what they leave.
BOOST_AUTO_TEST_CASE(rows_of_any_length) {
  if (!tests::has_fused_loops()) return;
  for (std::uint32_t width = 1; width <= 60; ++width) {
    std::vector<Convolution> cases{{1, 68, 40, 1, width}, {2, 67, 17, 2, width}};
    auto wide = Convolution{1, 23, 48, 2, width, 1, 3};  // a row at a time, with edges
    wide.a.padding = {0, 0, 1, 1};
    auto steps = strided(20, 40, 3, width);
    steps.a.strides = {1, tests::panel_stride()};
    for (const auto& c : {wide, steps}) cases.push_back(c);
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const auto maker = cases[i].maker(width, true);
      const Prepared prepared(maker);
      BOOST_TEST_REQUIRE(takes_panels(maker.problem()));
      BOOST_TEST(tests::unlike(prepared.result(), tests::expected_by_sums(prepared, maker)) == 0U,
                 "case " << i << " of width " << width);
    }
  }
}

// So large that a part goes through its pixels in rounds, with all panels in each: there the ends
// of rounds meet the ends of rows and pictures.
BOOST_AUTO_TEST_CASE(pictures_larger_than_a_cache) {
  if (!tests::has_fused_loops()) return;
  auto deep = strided(600, 65, 17, 21);  // parts are of channels here, of pixels elsewhere
  deep.a.strides = {1, tests::panel_stride()};
  for (const auto& c : {Convolution{1, 96, 24, 64, 64}, Convolution{3, 200, 16, 33, 17},
                        strided(64, 16, 120, 120), deep}) {
    const auto maker = c.maker(3, true);
    const Prepared prepared(maker);
    BOOST_TEST_REQUIRE(takes_panels(maker.problem()));
    constexpr std::size_t round = 640 * 1024;
    const bool by_pixels = prepared.kernel->constant_bytes() <= prepared.inputs[0].size();
    BOOST_TEST(by_pixels == (c.in != deep.in));
    BOOST_TEST(prepared.inputs[0].size() / (by_pixels ? prepared.kernel->parts() : 1) > round);
    BOOST_TEST(tests::unlike(prepared.result(), tests::expected_by_sums(prepared, maker)) == 0U);
  }
}

// Users who compare two pictures' results, or two pixels', count on it.
BOOST_AUTO_TEST_CASE(a_result_does_not_depend_on_its_place_in_a_group) {
  if (!tests::has_fused_loops()) return;
  for (const bool pointwise : {true, false}) {
    std::vector<float> first;  // the channels of a result
    for (std::uint32_t width = 1; width <= 45; ++width) {
      auto c = strided(37, 56, 7, 2 * width + 3);
      if (pointwise) c = Convolution{2, 67, 56, 3, width};
      const std::size_t pixels = std::size_t{c.height} * c.width;
      Buffer picture(pixels * c.batch * c.in * sizeof(float));
      for (std::size_t i = 0; i < picture.size() / sizeof(float); ++i)
        picture.as<float>()[i] =
            static_cast<float>(std::sin(1.0 + static_cast<double>(i / pixels % c.in)));
      ProblemMaker maker(op("conv2d"), 7);  // with one filter for all widths
      maker.attributes(c.a).given({DataType::float32, c.input()}, std::move(picture));
      maker.constant(c.filter()).input({c.out}).output(c.result());
      BOOST_TEST_REQUIRE(takes_panels(maker.problem()));
      const auto result = tests::results_of(maker, maker.values());
      const Shape out = c.result();
      const std::size_t edge = pointwise ? 0U : c.a.padding[0];
      const std::size_t plane = std::size_t{out[2]} * out[3];
      first.resize(c.out, nan);
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < result.size(); ++i) {
        const std::size_t channel = i / plane % c.out, y = i % plane / out[3], x = i % out[3];
        if (y < edge || x < edge || y + edge >= out[2] || x + edge >= out[3]) continue;
        if (std::isnan(first[channel])) first[channel] = static_cast<float>(result[i]);
        wrong += result[i] == double{first[channel]} ? 0U : 1U;
      }
      BOOST_TEST(wrong == 0U, wrong << " results differ in rows of " << width
                                    << (pointwise ? ", 1x1" : ", 3x3"));
    }
    BOOST_TEST(std::ranges::none_of(first, [](float x) { return std::isnan(x); }));
  }
}

// A tap that an edge cuts off is multiplied with zeros for some pixels of a group: never with what
// lies beside the picture.
BOOST_AUTO_TEST_CASE(special_values_are_seen_by_their_windows_alone) {
  if (!tests::has_fused_loops()) return;
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    Random random(seed);
    const bool pointwise = seed % 4 == 0;
    Convolution c{random.pick(1, 2),
                  random.pick(8, 40) + (pointwise ? 60U : 0U),
                  random.pick(16, 50),
                  random.pick(5, 9),
                  random.pick(7, 40),
                  1,
                  1};
    c.a.strides = {1, random.pick(1, tests::panel_stride())};
    if (!pointwise) {
      c.window_height = random.pick(1, 3), c.window_width = random.pick(2, 5);
      c.a.strides[0] = random.pick(1, tests::panel_stride());
      for (auto& padding : c.a.padding) padding = random.pick(0, 4);
    }
    const auto maker = c.maker(seed, true);
    if (!takes_panels(maker.problem())) continue;  // filtered minimally
    const auto usual = tests::results_of(maker, maker.values());
    const std::size_t count = *element_count(c.input());
    for (const float special : {nan, infinity, -infinity}) {
      auto values = tests::copies_of(maker);
      const std::size_t at = random.pick(0, static_cast<std::uint32_t>(count) - 1);
      values[0].as<float>()[at] = special;
      const std::size_t row = at / c.width % c.height, column = at % c.width;
      const std::size_t picture = at / (std::size_t{c.in} * c.height * c.width);
      const auto results = tests::results_of(maker, values);
      const Shape out = c.result();
      const std::size_t plane = std::size_t{out[2]} * out[3];
      const auto sees = [&](std::size_t axis, std::size_t result, std::size_t place) {
        const std::size_t window = axis == 0 ? c.window_height : c.window_width;
        const std::size_t begin = result * c.a.strides[axis];
        place += c.a.padding[2 * axis];
        return place >= begin && place - begin < window;
      };
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < results.size(); ++i)
        if (i / (plane * c.out) == picture && sees(0, i % plane / out[3], row) &&
            sees(1, i % out[3], column))
          wrong += std::isnan(special) ? !std::isnan(results[i]) : !std::isinf(results[i]);
        else
          wrong += results[i] == usual[i] ? 0U : 1U;
      BOOST_TEST(wrong == 0U, wrong << " results are wrong with " << special << " at " << at
                                    << ", seed " << seed);
    }
  }
}

// A bound does not hide that something went wrong, and one that is NaN is none.
BOOST_AUTO_TEST_CASE(bounds_let_nan_pass) {
  if (!tests::has_fused_loops()) return;
  for (const auto& bounds : {ClampAttributes{0.5, 1.5}, ClampAttributes{double{nan}, 1.5},
                             ClampAttributes{0.5, double{nan}}, ClampAttributes{}}) {
    auto maker = Convolution{1, 64, 32, 3, 9}.maker(2, true);
    maker.then(op("clamp"), bounds);
    BOOST_TEST_REQUIRE(takes_panels(maker.problem()));
    auto values = tests::copies_of(maker);
    values[0].as<float>()[4] = nan;
    values[0].as<float>()[5] = infinity;
    const auto results = tests::results_of(maker, values);
    const auto expected = tests::results_of(maker, values, true);
    for (std::size_t i = 0; i < results.size(); ++i)
      if (std::isfinite(expected[i]))
        BOOST_TEST(std::abs(results[i] - expected[i]) <= 1e-4, "result " << i);
      else
        BOOST_TEST((results[i] == expected[i] || std::isnan(results[i]) == std::isnan(expected[i])),
                   "result " << i << " is " << results[i] << ", expected " << expected[i]);
  }
}

// The next layer reads what fills the last block of channels, and multiplies it with zeros.
BOOST_AUTO_TEST_CASE(what_fills_a_block_stays_zero) {
  if (!tests::has_fused_loops()) return;
  const std::size_t block = kernels::channel_block(kernels::picture_layout());
  for (const std::uint32_t channels : {17U, 24U, 31U, 40U, 44U, 63U})
    for (const float special : {1.0F, nan, infinity, -infinity})
      for (const bool pointwise : {true, false}) {
        auto c = pointwise ? Convolution{1, 67, channels, 5, 9} : strided(19, channels, 5, 29);
        if (!pointwise) c.a.padding = {4, 1, 3, 1};  // also where there is nothing to see
        auto maker = c.maker(6, true);
        maker.then_with(op("add"), c.result()).then(op("clamp"), ClampAttributes{0.5, {}});
        Prepared prepared(maker);
        BOOST_TEST_REQUIRE(takes_panels(maker.problem()));
        // All of the memory: its writer may have done worse.
        for (const std::size_t i : {0U, 3U})
          std::ranges::fill(prepared.inputs[i].as<float>(), special);
        const auto result = prepared.result();
        const auto numbers = result.as<float>();
        const std::size_t plane = *element_count(c.result()) / channels;
        std::size_t wrong = 0, zeros = 0;
        for (std::size_t i = 0; i < numbers.size(); ++i)
          if (i / (plane * block) * block + i % block >= channels)
            wrong += std::bit_cast<std::uint32_t>(numbers[i]) == 0 ? 0U : 1U;
          else
            zeros += numbers[i] == 0 ? 1U : 0U;
        BOOST_TEST(wrong == 0U, channels << " channels, " << special);
        BOOST_TEST(zeros == 0U, channels << " channels, " << special);
      }
}

BOOST_AUTO_TEST_CASE(what_is_no_such_convolution_is_refused) {
  if (!tests::has_fused_loops()) return;
  const Convolution usual{1, 64, 32, 7, 9};
  const auto changed = [&](auto&& change) {
    Convolution c = usual;
    change(c);
    return c.maker(1).problem();
  };
  const auto taken = [](const kernels::Problem& problem) { return takes_panels(problem); };
  BOOST_TEST(taken(usual.maker(1).problem()));
  for (const std::uint32_t stride : {1U, 2U})
    BOOST_TEST(taken(changed([&](auto& c) {
                 c.a.strides = {2, stride};
               })) == (tests::panel_stride() == 2));
  BOOST_TEST(!taken(changed([](auto& c) { c.a.strides = {3, 1}; })));
  BOOST_TEST(!taken(changed([](auto& c) { c.a.strides = {1, 3}; })));
  BOOST_TEST(!taken(changed([](auto& c) { c.a.groups = 2; })));
  const auto of_channels = [&](std::uint32_t in, std::uint32_t out, std::uint32_t width) {
    return changed([&](auto& c) { c.in = in, c.out = out, c.window_width = width; });
  };
  BOOST_TEST(taken(of_channels(8, 16, 8)), "few channels");
#if defined(__x86_64__)
  BOOST_TEST(!taken(of_channels(7, 16, 8)), "too few channels");
  BOOST_TEST(!taken(of_channels(64, 15, 8)), "too few results");
  BOOST_TEST(taken(of_channels(63, 16, 1)) == kernels::has_avx512(), "short sums");
#endif
  const auto windowed = [&](std::uint32_t height, std::uint32_t width) {
    return changed([&](auto& c) {
      c.window_height = height, c.window_width = width;
      c.a.padding = {8, 8, 64, 64};
    });
  };
  BOOST_TEST(taken(windowed(1, 128)), "a window as large as they come");
  BOOST_TEST(taken(windowed(8, 16)));
  BOOST_TEST(!taken(windowed(1, 129)), "a larger one");
  BOOST_TEST(!taken(windowed(13, 10)));
  BOOST_TEST(!taken(changed([](auto& c) { c.a.padding[1] = c.height + 65; })), "far padding");

  const auto with = [&](auto&& add) {
    auto maker = usual.maker(1);
    add(maker);
    return maker.problem();
  };
  const Shape result = usual.result(), channels{1, 32, 1, 1};
  const auto add = op("add"), relu = op("relu");
  BOOST_TEST(taken(with([&](auto& m) { m.then_with(add, result).then(relu); })));
  BOOST_TEST(!taken(with([&](auto& m) { m.then(relu).then_with(add, result); })));
  BOOST_TEST(!taken(with([&](auto& m) { m.then(relu).then(relu); })));
  BOOST_TEST(!taken(with([&](auto& m) { m.then_with(add, channels); })), "a bias by broadcasting");
  BOOST_TEST(!taken(with([&](auto& m) { m.then_with(op("mul"), result); })));
  BOOST_TEST(!taken(with([&](auto& m) { m.then(op("hardSwish")); })));

  // In this processor's blocks of channels only, all of them.
  const auto taken_as_it_lies = [](const kernels::Problem& problem) {
    for (const auto& way : kernels::implementations(problem.op))
      if (way.cuts_itself && way.prepare(problem)) return true;
    return false;
  };
  const auto added = tests::in_blocks(with([&](auto& m) { m.then_with(add, result); }));
  BOOST_TEST(taken_as_it_lies(added));
  for (const Layout other : {Layout::plain, Layout::blocked8, Layout::blocked16}) {
    if (other == kernels::picture_layout()) continue;
    auto problem = added;
    problem.inputs[0].layout = other;
    BOOST_TEST(!taken_as_it_lies(problem));
    problem = added;
    problem.outputs[0].layout = problem.inputs[2].layout = other;
    BOOST_TEST(!taken_as_it_lies(problem));
    problem = added;
    problem.inputs[2].layout = other;
    BOOST_TEST(!taken_as_it_lies(problem));
  }
  auto unknown = usual.maker(1).problem();
  unknown.inputs[1].constant.reset();
  BOOST_TEST(!taken_as_it_lies(tests::in_blocks(unknown)), "a filter that is not known");
}

// Zero times infinity is NaN: padding would be seen. Without padding nothing meets zeros.
BOOST_AUTO_TEST_CASE(infinite_weights_meet_no_padding) {
  if (!tests::has_fused_loops()) return;
  for (const float special : {infinity, -infinity, nan})
    for (const std::uint32_t padding : {0U, 1U}) {
      Convolution c{1, 20, 40, 5, 9, 2, 2};
      c.a.padding = {0, 0, 0, padding};
      auto maker = c.maker(4, true);
      auto values = tests::copies_of(maker);
      values[1].as<float>()[7] = special;
      auto problem = maker.problem();
      problem.inputs[1].constant =
          std::make_shared<const Buffer>(Buffer::copy_of(values[1].bytes()));
      BOOST_TEST(takes_panels(problem) == (padding == 0));
      const auto all = kernels::implementations(op("conv2d"));
      const auto way = std::ranges::find_if(
          all, [&](const auto& w) { return w.prepare(tests::in_blocks(problem)).has_value(); });
      const auto got = tests::run_kernel(*way, problem, values, kernels::picture_layout());
      const auto expected = tests::run_kernel(all.back(), problem, values);
      const auto a = got.outputs[0].as<float>(), e = expected.outputs[0].as<float>();
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < e.size(); ++i)
        wrong += std::isfinite(e[i]) ? !(std::abs(a[i] - e[i]) < 1e-3)
                                     : !(a[i] == e[i] || (std::isnan(a[i]) && std::isnan(e[i])));
      BOOST_TEST(wrong == 0U, wrong << " are wrong with " << special);
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron
