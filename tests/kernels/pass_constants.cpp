// Passes do not change a result, with any constants. Other tests' random ones never include 0,
// infinity, NaN, subnormal numbers, and 1.5 * 2^23, which rounds a number that is added to it.
//
// POLYCHRON_SEED: which constants are drawn.
#include <array>
#include <bit>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "kernels/cpu/cpu_backend.hpp"
#include "ops/table.hpp"
#include "tests/kernels/graphs.hpp"
#include "tests/kernels/special_values.hpp"
#include "tests/ops/random.hpp"

namespace polychron {
namespace {

using ops::op;
using ops::ValueId;
using tests::GraphMaker;
using tests::op_named;
using tests::Runner;
using tests::floats::infinity;
using tests::floats::nan;

constexpr float rounding = 0x1.8p23F;
constexpr float largest = std::numeric_limits<float>::max();
const std::vector<float> constants{0.0F,     -0.0F,     1.0F,      -1.0F,   0.5F,   3.0F,
                                   -0.3F,    1e-40F,    -1e-45F,   1e-38F,  1e-30F, 1e10F,
                                   rounding, -rounding, 1.7e38F,   largest, nan,    infinity,
                                   -1e30F,   -infinity, 0.7071068F};

/// Places apart in the order of floats; NaN and NaN, but not 0 and -0, are one.
double places_apart(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b) ? 0 : infinity;
  if (a == 0 && b == 0 && std::signbit(a) != std::signbit(b)) return infinity;
  const auto place = [](float x) {
    const auto bits = std::bit_cast<std::int32_t>(x);
    return std::int64_t{bits < 0 ? std::numeric_limits<std::int32_t>::min() - bits : bits};
  };
  return static_cast<double>(std::abs(place(a) - place(b)));
}

std::vector<float> results(const GraphMaker& maker, const std::vector<float>& x,
                           kernels::PlanSettings settings = {}) {
  Runner runner(kernels::make_cpu_backend(settings), maker.share());
  runner.set(0, x);
  runner.run();
  return runner.get<float>(0);
}

struct Step {
  const char* op;
  bool constant_first;
  float (*compute)(float x, float c);
};
constexpr std::array<Step, 6> steps{{
    {"add", false, [](float x, float c) { return x + c; }},
    {"mul", true, [](float x, float c) { return c * x; }},
    {"sub", false, [](float x, float c) { return x - c; }},
    {"sub", true, [](float x, float c) { return c - x; }},
    {"div", false, [](float x, float c) { return x / c; }},
    {"div", true, [](float x, float c) { return c / x; }},
}};

ValueId apply(GraphMaker& maker, const Step& step, ValueId x, float c, const Shape& shape) {
  const auto constant = maker.constant<float>({}, {c});
  return step.constant_first ? maker.node(op_named(step.op), {constant, x}, shape)
                             : maker.node(op_named(step.op), {x, constant}, shape);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(pass_constants)

BOOST_AUTO_TEST_CASE(two_steps_with_any_constants) {
  const char* const given = std::getenv("POLYCHRON_SEED");
  const auto seed = given == nullptr ? 1U : static_cast<std::uint32_t>(std::atoi(given));
  BOOST_TEST_MESSAGE("POLYCHRON_SEED=" << seed);
  test::Random random(seed);
  const auto drawn = [&] {
    return constants[random.number(0, static_cast<std::uint32_t>(constants.size() - 1))];
  };
  const std::vector<float> x = [&] {
    auto numbers = constants;
    for (const float more : {0.3F, 7.0F, -2.5F, 12.75F, 1e-42F}) numbers.push_back(more);
    return numbers;
  }();
  const Shape shape{static_cast<std::uint32_t>(x.size())};
  for (const Step& first : steps)
    for (const Step& second : steps)
      for (int round = 0; round < 40; ++round) {
        const float c1 = drawn(), c2 = drawn();
        GraphMaker maker;
        const auto y = apply(maker, first, maker.input(shape), c1, shape);
        maker.output(apply(maker, second, y, c2, shape));
        const auto actual = results(maker, x);
        for (std::size_t i = 0; i < x.size(); ++i) {
          const float between = first.compute(x[i], c1), expected = second.compute(between, c2);
          // Quotients may be off by 2 ULP each, what is added to them by the same amount.
          const double unit = std::ldexp(1, -22) * std::fabs(double{between});
          const bool near = first.op[0] == 'd' && std::fabs(double{actual[i]} - expected) <= unit;
          BOOST_TEST((near || places_apart(actual[i], expected) <= 4),
                     first.op << ' ' << c1 << ", " << second.op << ' ' << c2 << " of " << x[i]
                              << ": " << actual[i] << ", expected " << expected
                              << ", POLYCHRON_SEED=" << seed);
        }
      }
}

// The first product overflows, or vanishes in part or as a whole, and the second brings its result
// back into range.
BOOST_AUTO_TEST_CASE(products_overflow_and_vanish_one_by_one) {
  const std::vector<float> x{0x1p100F, -0x1p100F, 0x1p-100F, 0x1.8p-149F, 1};
  const auto powers = {0x1p40F, 0x1p-40F, -0x1p40F, 0x1.8p-1F, 1.5F, 0x1p4F, -1.0F, 0x1.8p-60F};
  for (const float first : powers)
    for (const float second : powers) {
      GraphMaker maker;
      const auto y =
          maker.node(op("mul"), {maker.input({5}), maker.constant<float>({}, {first})}, {5});
      maker.output(maker.node(op("mul"), {maker.constant<float>({1}, {second}), y}, {5}));
      const auto actual = results(maker, x);
      for (std::size_t i = 0; i < x.size(); ++i) {
        const float between = x[i] * first, expected = between * second;
        BOOST_TEST(places_apart(actual[i], expected) <= 2,
                   x[i] << " * " << first << " * " << second << ": " << actual[i]);
      }
    }
}

// clamp(x * 2^100 * 2^-100 - 2^31, 0, 2^32) / 2^32 is 1 of 2^30, where hardSigmoid would be 0.
BOOST_AUTO_TEST_CASE(what_overflows_before_a_clamp_is_no_activation) {
  const std::vector<float> x{-0x1p30F, 0x1p30F, 0x1p-60F, -1};
  GraphMaker maker;
  const Shape shape{4};
  const auto scalar = [&](float value) { return maker.constant<float>({}, {value}); };
  const auto large = maker.node(op("mul"), {maker.input(shape), scalar(0x1p100F)}, shape);
  const auto small = maker.node(op("mul"), {large, scalar(0x1p-100F)}, shape);
  const auto clipped =
      maker.node(op("clamp"), {maker.node(op("add"), {small, scalar(-0x1p31F)}, shape)}, shape,
                 ClampAttributes{0.0, double{0x1p32F}});
  maker.output(maker.node(op("mul"), {clipped, scalar(0x1p-32F)}, shape));
  const auto actual = results(maker, x);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float expected =
        std::fmin(std::fmax(x[i] * 0x1p100F * 0x1p-100F - 0x1p31F, 0.0F), 0x1p32F);
    BOOST_TEST(actual[i] == expected * 0x1p-32F, x[i] << ": " << actual[i]);
  }
}

// (x + 1.5 * 2^23) - 1.5 * 2^23 rounds x.
BOOST_AUTO_TEST_CASE(sums_are_rounded_before_more_is_added) {
  const std::vector<float> x{0.3F, -1.75F, 2.5F, 3.5F}, expected{0, -2, 2, 4};
  GraphMaker maker;
  const auto c = maker.constant<float>({}, {rounding});
  const auto y = maker.node(op("add"), {maker.input({4}), c}, {4});
  maker.output(maker.node(op("sub"), {y, c}, {4}));
  BOOST_TEST(results(maker, x) == expected, boost::test_tools::per_element());
}

// A large bias of a convolution and a constant added after it round the result, too.
BOOST_AUTO_TEST_CASE(large_biases_do_not_cancel_out) {
  const std::vector<float> x{0.3F, -1.75F, 2.25F, 3.75F}, expected{0, -2, 2, 4};
  GraphMaker maker;
  const Shape shape{1, 1, 2, 2};
  const auto y = maker.node(op("conv2d"),
                            {maker.input(shape), maker.constant<float>({1, 1, 1, 1}, {1}),
                             maker.constant<float>({1}, {rounding})},
                            shape, Conv2dAttributes{});
  maker.output(maker.node(op("sub"), {y, maker.constant<float>({}, {rounding})}, shape));
  BOOST_TEST(results(maker, x) == expected, boost::test_tools::per_element());
}

// A product is rounded before it is added to: 1 + 2^-11 + 2^-24 is 1 + 2^-11.
BOOST_AUTO_TEST_CASE(products_are_rounded_before_more_is_added) {
  const float factor = 1 + 0x1p-12F;
  GraphMaker maker;
  const auto y =
      maker.node(op("mul"), {maker.input({1}), maker.constant<float>({}, {factor})}, {1});
  maker.output(maker.node(op("sub"), {y, maker.constant<float>({}, {1 + 0x1p-11F})}, {1}));
  BOOST_TEST(results(maker, {factor}).at(0) == 0.0F);
}

// Scaled weights: of 1e-30, times 1e-15, nothing would be left.
BOOST_AUTO_TEST_CASE(weights_keep_their_precision) {
  for (const auto& [weight, factor, x] :
       {std::array{1e-30F, 1e-12F, 1e30F}, {1e30F, 1e12F, 1e-35F}, {0.5F, 1e-40F, 3.0F}}) {
    GraphMaker maker;
    const Shape shape{1, 1, 1, 2};
    const auto y = maker.node(op("conv2d"),
                              {maker.input(shape), maker.constant<float>({1, 1, 1, 1}, {weight})},
                              shape, Conv2dAttributes{});
    maker.output(maker.node(op("mul"), {y, maker.constant<float>({}, {factor})}, shape));
    const float expected = weight * x * factor;
    BOOST_TEST(places_apart(results(maker, {x, 0}).at(0), expected) <= 4,
               weight << " * " << factor << " * " << x);
  }
}

// x + x * s: of s near -1 little is left, of infinity and 0 nothing.
BOOST_AUTO_TEST_CASE(gates_are_multiplied_first) {
  const std::vector<float> x{0.1F, infinity, -3.0F, 1e38F, 0.0F};
  for (const float s : {-0.99999994F, 0.0F, -1.0F, 5.0F, -infinity}) {
    GraphMaker maker;
    const Shape shape{5, 1};
    const auto in = maker.input(shape);
    const auto gate =
        maker.node(op("slice"), {maker.node(op("expand"), {in}, {5, 5}, ExpandAttributes{{5, 5}})},
                   {1, 1}, SliceAttributes{{0, 0}, {1, 1}, {}});
    const auto scale = maker.node(op("div"), {gate, gate}, {1, 1});  // 1
    const auto s_times = maker.node(op("mul"), {scale, maker.constant<float>({1, 1}, {s})}, {1, 1});
    const auto product = maker.node(op("mul"), {in, s_times}, shape);
    maker.output(maker.node(op("add"), {in, product}, shape));
    const auto actual = results(maker, x);
    for (std::size_t i = 0; i < x.size(); ++i)
      BOOST_TEST(places_apart(actual[i], x[i] + x[i] * s) <= 1,
                 x[i] << " + " << x[i] << " * " << s);
  }
}

// The same with other constants is another function.
BOOST_AUTO_TEST_CASE(what_looks_like_gelu_is_none) {
  const std::vector<float> x{7, -1, 0.5F};
  for (const auto& [a, b, h] : {std::array{1e-7F, 5e-7F, 1e6F},
                                {1e-7F, 1e-7F, 5e6F},
                                {1.0F, 1.0F, 0.5F},
                                {0.5F, 0.5F, 1.0F}}) {
    GraphMaker maker;
    const Shape shape{3};
    const auto scalar = [&](float value) { return maker.constant<float>({}, {value}); };
    const auto in = maker.input(shape);
    const auto p = maker.node(op("mul"), {in, scalar(0.70710677F)}, shape);
    const auto q = maker.node(op("mul"), {maker.node(op("erf"), {p}, shape), scalar(a)}, shape);
    const auto r = maker.node(op("add"), {q, scalar(b)}, shape);
    const auto m = maker.node(op("mul"), {in, r}, shape);
    maker.output(maker.node(op("mul"), {m, scalar(h)}, shape));
    const auto actual = results(maker, x);
    const auto expected = results(maker, x, {.optimize = false, .reference_only = true});
    for (std::size_t i = 0; i < x.size(); ++i)
      BOOST_TEST(
          std::fabs(actual[i] - expected[i]) <= 1e-6F * std::fmax(1.0F, std::fabs(expected[i])),
          a << ", " << b << ", " << h << ": " << actual[i] << ", expected " << expected[i]);
  }
}

// clamp(x + beta, 0, 6) / 6, where beta rounds x: hardSigmoid would not.
BOOST_AUTO_TEST_CASE(what_looks_like_hard_sigmoid_is_none) {
  const std::vector<float> x{-12582912 + 2.0F, -12582909, 1, -1e10F};
  GraphMaker maker;
  const Shape shape{4};
  const auto sum =
      maker.node(op("add"), {maker.input(shape), maker.constant<float>({}, {1e7F})}, shape);
  const auto clipped = maker.node(op("clamp"), {sum}, shape, ClampAttributes{0.0, 6.0});
  maker.output(maker.node(op("div"), {clipped, maker.constant<float>({}, {6})}, shape));
  const auto actual = results(maker, x);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float expected = std::fmin(std::fmax(x[i] + 1e7F, 0.0F), 6.0F) / 6;
    BOOST_TEST(places_apart(actual[i], expected) <= 4, x[i] << ": " << actual[i]);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron
