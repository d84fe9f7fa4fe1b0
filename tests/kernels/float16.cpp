// Graphs in float16: computed in float32 where that is faster, converted at their ends only, and
// never where elements are only moved.
#include <array>
#include <bit>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>

#include "kernels/cpu/cpu_backend.hpp"
#include "ops/table.hpp"
#include "tests/kernels/graphs.hpp"

namespace polychron {
namespace {

using ops::op;
using ops::ValueId;
using tests::GraphMaker;
using tests::Runner;

constexpr auto half = DataType::float16;

std::vector<float16> halves(std::size_t count, std::uint32_t seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> numbers(-1, 1);
  std::vector<float16> values(count);
  for (auto& value : values) value = float16(numbers(generator));
  return values;
}

ValueId weights(GraphMaker& maker, Shape shape) {
  const auto count = *element_count(shape);
  return maker.constant<float16>(std::move(shape), halves(count, 5));
}

/// Compares output 0 with the reference's, float16 all the way; returns the plan's steps.
std::vector<std::string> check_halves(const GraphMaker& maker, const std::vector<float16>& input) {
  Runner fast(kernels::make_cpu_backend(), maker.share());
  Runner plain(kernels::make_cpu_backend({.optimize = false, .reference_only = true}),
               maker.share());
  for (Runner* runner : {&fast, &plain}) {
    runner->set(0, input);
    runner->run();
  }
  const auto actual = fast.get<float16>(0), expected = plain.get<float16>(0);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double a = static_cast<double>(actual[i]), e = static_cast<double>(expected[i]);
    BOOST_REQUIRE_MESSAGE(std::fabs(a - e) <= 4e-3 * std::fmax(1, std::fabs(e)),
                          "element " << i << " is " << a << ", expected " << e);
  }
  return fast.plan().describe();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(halves_of_plans)

// Every float16 there is; and floats that lie between two of them, or next to such a tie.
BOOST_AUTO_TEST_CASE(casts_round_to_the_nearest) {
  std::vector<float16> every;
  std::vector<float> floats;
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    every.push_back(float16::from_bits(static_cast<std::uint16_t>(bits)));
    const auto value = static_cast<float>(every.back());
    const auto tie = std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) | 0x1000U);
    floats.insert(floats.end(), {value, tie, std::nextafter(tie, 0.0F),
                                 std::nextafter(tie, std::numeric_limits<float>::infinity())});
  }
  floats.insert(floats.end(), {65519.0F, 65520.0F, 0x1p-25F, 0x1.8p-25F, 1e-40F});
  GraphMaker maker;
  const Shape halves{0x10000}, wide{static_cast<std::uint32_t>(floats.size())};
  maker.output(maker.node(op("cast"), {maker.input(halves, half)}, halves,
                          CastAttributes{DataType::float32}));
  maker.output(maker.node(op("cast"), {maker.input(wide)}, wide, CastAttributes{half}, half));
  Runner runner(kernels::make_cpu_backend(), maker.share());
  runner.set(0, every);
  runner.set(1, floats);
  runner.run();
  const auto widened = runner.get<float>(0);
  for (std::size_t i = 0; i < every.size(); ++i) {
    const auto expected = static_cast<float>(every[i]);
    BOOST_REQUIRE((std::isnan(expected) ? std::isnan(widened[i]) : widened[i] == expected));
  }
  const auto narrowed = runner.get<float16>(1);
  for (std::size_t i = 0; i < floats.size(); ++i)
    BOOST_REQUIRE_MESSAGE((std::isnan(floats[i]) ? std::isnan(static_cast<float>(narrowed[i]))
                                                 : narrowed[i] == float16(floats[i])),
                          floats[i] << " becomes " << static_cast<float>(narrowed[i]));
}

BOOST_AUTO_TEST_CASE(a_network_is_computed_in_float32_and_converted_at_its_ends) {
  GraphMaker maker;
  const auto node = [&](ops::OpId id, std::vector<ValueId> inputs, Shape shape,
                        Attributes attributes = {}) {
    return maker.node(id, std::move(inputs), std::move(shape), std::move(attributes), half);
  };
  const auto x = maker.input({1, 3, 9, 7}, half);
  const auto c = node(op("conv2d"), {x, weights(maker, {8, 3, 3, 3}), weights(maker, {8})},
                      {1, 8, 7, 5}, Conv2dAttributes{});
  const auto r = node(op("relu"), {c}, {1, 8, 7, 5});
  const auto t = node(op("transpose"), {r}, {1, 7, 5, 8}, TransposeAttributes{{{0, 2, 3, 1}}});
  const auto f = node(op("reshape"), {t}, {35, 8}, ReshapeAttributes{{35, 8}});
  const auto m = node(op("matmul"), {f, weights(maker, {8, 6})}, {35, 6});
  maker.output(node(op("softmax"), {m}, {35, 6}, SoftmaxAttributes{1}));
  const auto steps = check_halves(maker, halves(3 * 9 * 7, 1));
  BOOST_TEST(tests::steps_with(steps, "reference") == 0);
  BOOST_TEST(tests::steps_with(steps, "cast") == 2);
  BOOST_TEST(tests::steps_with(steps, "conv2d+relu") == 1);
}

BOOST_AUTO_TEST_CASE(a_gemm_with_a_column_is_not_left_to_the_reference) {
  GraphMaker maker;
  maker.output(maker.node(
      op("gemm"), {maker.input({30, 20}, half), weights(maker, {30, 8}), weights(maker, {20, 1})},
      {20, 8}, GemmAttributes{0.5, 1, true, false}, half));
  const auto steps = check_halves(maker, halves(30 * 20, 2));
  BOOST_TEST(tests::steps_with(steps, "reference") == 0);
}

BOOST_AUTO_TEST_CASE(what_is_read_in_both_types_is_there_in_both) {
  GraphMaker maker;
  const auto x = maker.input({6, 5}, half);
  const auto s = maker.node(op("softmax"), {x}, {6, 5}, SoftmaxAttributes{1}, half);
  const auto most = maker.node(op("argMax"), {s}, {6}, ArgMinMaxAttributes{1}, DataType::int32);
  const auto again = maker.node(op("tanh"), {s}, {6, 5}, {}, half);
  maker.output(s);
  maker.output(most);
  maker.output(again);
  Runner runner(kernels::make_cpu_backend(), maker.share());
  runner.set(0, halves(30, 3));
  runner.run();
  const auto rows = runner.get<float16>(0);
  const auto places = runner.get<std::int32_t>(1);
  const auto bent = runner.get<float16>(2);
  for (std::size_t i = 0; i < 6; ++i) {
    double sum = 0, largest = 0;
    for (std::size_t k = 0; k < 5; ++k) {
      const double value = static_cast<double>(rows[5 * i + k]);
      sum += value;
      largest = std::fmax(largest, value);
      BOOST_TEST(std::fabs(static_cast<double>(bent[5 * i + k]) - std::tanh(value)) < 1e-3);
    }
    BOOST_TEST(std::fabs(sum - 1) < 2e-3);
    const auto place = 5 * i + static_cast<std::size_t>(places[i]);
    BOOST_TEST(static_cast<double>(rows[place]) == largest);
  }
}

BOOST_AUTO_TEST_CASE(a_cast_to_float16_rounds) {
  GraphMaker maker;
  const auto x = maker.input({3});
  const auto h = maker.node(op("cast"), {x}, {3}, CastAttributes{half}, half);
  maker.output(maker.node(op("cast"), {h}, {3}, CastAttributes{DataType::float32}));
  Runner runner(kernels::make_cpu_backend(), maker.share());
  runner.set<float>(0, {1.0001F, 70000, 0.1F});
  runner.run();
  const auto y = runner.get<float>(0);
  BOOST_TEST(y[0] == 1.0F);
  BOOST_TEST(std::isinf(y[1]));
  BOOST_TEST(y[2] == 0.0999755859375F);
}

BOOST_AUTO_TEST_CASE(what_only_moves_keeps_its_bits) {
  GraphMaker maker;
  const auto x = maker.input({2, 3}, half);
  const auto t = maker.node(op("transpose"), {x}, {3, 2}, TransposeAttributes{}, half);
  maker.output(maker.node(op("slice"), {t}, {3, 1}, SliceAttributes{{0, 1}, {3, 1}, {}}, half));
  Runner runner(kernels::make_cpu_backend(), maker.share());
  // NaNs with something in them, one of them signaling.
  std::vector<float16> values;
  for (const std::uint16_t bits : std::array<std::uint16_t, 6>{1, 2, 3, 0x7c01, 0xfe2a, 0x8000})
    values.push_back(float16::from_bits(bits));
  runner.set<float16>(0, values);
  runner.run();
  BOOST_TEST(tests::steps_with(runner.plan().describe(), "cast") == 0);
  const auto y = runner.get<float16>(0);
  BOOST_TEST(y[0].bits == 0x7c01U);
  BOOST_TEST(y[1].bits == 0xfe2aU);
  BOOST_TEST(y[2].bits == 0x8000U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron
