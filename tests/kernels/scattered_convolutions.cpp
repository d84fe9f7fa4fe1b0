// Transposed convolutions of few channels in groups, and with gaps between windows.
#include <boost/test/unit_test.hpp>

#include "kernels/cpu/cpu_backend.hpp"
#include "ops/table.hpp"
#include "tests/kernels/graphs.hpp"
#include "tests/kernels/own_loops.hpp"
#include "tests/kernels/problems.hpp"
#include "tests/kernels/random.hpp"

namespace polychron {
namespace {

using tests::ProblemMaker;
using tests::Random;

struct Scattered {
  std::uint32_t batch, groups, inputs, outputs;  ///< channels of a group
  std::array<std::uint32_t, 2> in, window, strides, dilations;
  std::array<std::uint32_t, 4> padding;
  std::array<std::uint32_t, 2> more;  ///< rows and columns behind the last window
  bool biased = true;
  bool constant = true;

  ProblemMaker maker(std::uint32_t seed) const {
    ConvTranspose2dAttributes a;
    a.strides = {strides[0], strides[1]}, a.dilations = {dilations[0], dilations[1]};
    a.padding = {padding.begin(), padding.end()}, a.output_padding = {more[0], more[1]};
    a.groups = groups;
    const auto out = [&](std::size_t i) {
      return (in[i] - 1) * strides[i] + (window[i] - 1) * dilations[i] + 1 + more[i] -
             padding[2 * i] - padding[2 * i + 1];
    };
    ProblemMaker maker(ops::op("convTranspose2d"), seed);
    maker.attributes(a).input({batch, groups * inputs, in[0], in[1]}).range(-1, 1);
    const Shape filter{groups * inputs, outputs, window[0], window[1]};
    constant ? maker.constant(filter) : maker.input(filter);
    if (biased) maker.input({groups * outputs});
    maker.output({batch, groups * outputs, out(0), out(1)});
    return maker;
  }
};

Scattered drawn(Random& random) {
  const auto pick = [&](std::uint32_t low, std::uint32_t high) {
    return static_cast<std::uint32_t>(random.pick(low, high));
  };
  Scattered s{pick(1, 2),
              pick(2, 5),
              pick(1, 8),
              pick(1, 3),
              {pick(1, 9), pick(1, 9)},
              {pick(1, 4), pick(1, 4)},
              {pick(1, 4), pick(1, 5)},
              {pick(1, 2), pick(1, 3)},
              {},
              {}};
  if (pick(0, 9) == 0) s.in[1] = pick(60, 140);  // more than are summed together
  for (std::size_t i = 0; i < 2; ++i) {
    if (s.strides[i] > 1) s.more[i] = pick(0, s.strides[i] - 1);
    const std::uint32_t reach = (s.in[i] - 1) * s.strides[i] + (s.window[i] - 1) * s.dilations[i];
    s.padding[2 * i] = pick(0, std::min(reach / 2, 3U));
    s.padding[2 * i + 1] = pick(0, std::min(reach / 2, 3U));
  }
  s.biased = pick(0, 1) == 0;
  s.constant = pick(0, 1) == 0;
  return s;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(scattered_convolutions)

BOOST_AUTO_TEST_CASE(agree_with_the_reference) {
  Random random(1);
  for (std::uint32_t i = 0; i < 150; ++i) {
    const auto maker = drawn(random).maker(i);
    const auto what = "case " + std::to_string(i) + ": " + to_string(maker.problem());
    BOOST_TEST(kernels::way_of(maker.problem()) == kernels::by_scattering, what);
    BOOST_TEST(tests::check_implementations(maker, what) > 0, what);
  }
}

// A stride wider than the window leaves gaps, also where channels are many and in one group.
BOOST_AUTO_TEST_CASE(take_gaps_between_windows) {
  const auto way = [](std::uint32_t groups, std::uint32_t inputs, std::uint32_t stride) {
    const Scattered s{1, groups, inputs, 20, {7, 6}, {2, 3}, {stride, 2}, {1, 1}, {1, 0, 0, 1}, {}};
    const auto maker = s.maker(3);
    BOOST_TEST(tests::check_implementations(maker, to_string(maker.problem())) > 0);
    return kernels::way_of(maker.problem());
  };
  BOOST_TEST(way(1, 20, 3) == kernels::by_scattering);
  BOOST_TEST(way(1, 20, 2) != kernels::by_scattering);
  BOOST_TEST(way(1, 100, 3) != kernels::by_scattering);
  BOOST_TEST(way(4, 8, 2) == kernels::by_scattering);
  BOOST_TEST(way(4, 9, 2) != kernels::by_scattering);
}

// The function behind it is a step of its own, as oneDNN would otherwise compute both.
BOOST_AUTO_TEST_CASE(leave_functions_to_the_next_step) {
  tests::GraphMaker maker;
  ConvTranspose2dAttributes a;
  a.strides = {3, 3};
  const Shape out{1, 16, 13, 13};
  const auto y = maker.node(ops::op("convTranspose2d"),
                            {maker.input({1, 16, 5, 5}), maker.random({16, 16, 1, 1})}, out, a);
  maker.output(maker.node(ops::op("relu"), {y}, out));
  const tests::Runner runner(kernels::make_cpu_backend(), maker.share());
  const auto steps = runner.plan().describe();
  BOOST_TEST(steps.size() == 2U);
  BOOST_TEST(steps[0].find("direct: ") == 0U, steps[0]);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron
