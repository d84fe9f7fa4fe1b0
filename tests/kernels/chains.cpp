// Operators of each element, joined into one step.
#include <array>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstring>

#include "kernels/chain.hpp"
#include "kernels/cpu/cpu_backend.hpp"
#include "ops/table.hpp"
#include "tests/kernels/graphs.hpp"
#include "tests/kernels/own_loops.hpp"
#include "tests/kernels/special_values.hpp"

namespace polychron {
namespace {

using ops::op;
using ops::ValueId;
using tests::GraphMaker;
using tests::Runner;

constexpr auto half = DataType::float16;

/// Numbers of all magnitudes, and special ones.
std::vector<float> numbers(std::size_t count, std::uint32_t seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> any(-2, 2);
  std::vector<float> values(count);
  for (auto& value : values) value = any(generator);
  const std::array specials{tests::floats::nan,
                            tests::floats::infinity,
                            -tests::floats::infinity,
                            -0.0F,
                            0.0F,
                            1e-40F,
                            3e38F};
  for (std::size_t i = 0; i < specials.size() && i < count; ++i)
    values[i * count / 8] = specials[i];
  return values;
}

struct Ran {
  std::vector<std::string> steps;
  std::size_t joined = 0;  ///< steps that are chains
};

/// Compares output 0 with the results of single steps. They are the same numbers.
Ran check(const GraphMaker& maker, const std::vector<std::vector<float>>& inputs,
          const std::string& what) {
  Runner joined(kernels::make_cpu_backend(), maker.share());
  Runner single(kernels::make_cpu_backend({.optimize = false}), maker.share());
  for (Runner* runner : {&joined, &single}) {
    for (std::size_t i = 0; i < inputs.size(); ++i) runner->set(i, inputs[i]);
    runner->run();
  }
  const auto actual = joined.get<float>(0), expected = single.get<float>(0);
  BOOST_REQUIRE(actual.size() == expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i)
    BOOST_REQUIRE_MESSAGE(
        (std::isnan(actual[i]) ? std::isnan(expected[i]) : actual[i] == expected[i]),
        what << ": element " << i << " is " << actual[i] << ", expected " << expected[i]);
  Ran ran{joined.plan().describe(), 0};
  for (const auto& step : ran.steps)
    ran.joined += step.find("chain+") != std::string::npos ? 1U : 0U;
  return ran;
}

/// where(|x| < 0.5, x * x, |x| - factor), in which |x| has three readers.
ValueId branches(GraphMaker& maker, ValueId x, ValueId factor, const Shape& shape) {
  const auto size = maker.node(op("abs"), {x}, shape);
  const auto small = maker.node(op("lesser"), {size, maker.constant<float>({}, {0.5F})}, shape, {},
                                DataType::uint8);
  const auto square = maker.node(op("mul"), {x, x}, shape);
  const auto rest = maker.node(op("sub"), {size, factor}, shape);
  return maker.node(op("where"), {small, square, rest}, shape);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(chains)

// Pieces have 1,024 elements; parts begin at whole pieces.
BOOST_AUTO_TEST_CASE(of_every_length) {
  for (const std::uint32_t count : {1U, 2U, 7U, 1023U, 1024U, 1025U, 3000U, 70'001U}) {
    GraphMaker maker;
    const Shape shape{count};
    const auto x = maker.input(shape), factor = maker.input({1});
    maker.output(maker.node(op("relu"), {branches(maker, x, factor, shape)}, shape));
    const auto what = std::to_string(count) + " elements";
    const auto ran = check(maker, {numbers(count, count), {0.25F}}, what);
    BOOST_TEST(ran.steps.size() == 1U, what << ": " << ran.steps.front());
    BOOST_TEST(ran.joined == 1U, what);
    BOOST_TEST((ran.steps[0].find("parts") != std::string::npos) == (count > 70'000), ran.steps[0]);
  }
}

// Casts at both ends belong to the chain, so the results between are float32. Many elements look
// their results up.
BOOST_AUTO_TEST_CASE(of_float16) {
  std::vector<float16> all;
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits)
    all.push_back(float16::from_bits(static_cast<std::uint16_t>(bits * 41)));
  all.resize(70'001, float16(0.5F));
  for (const std::uint32_t count : {2100U, 70'001U}) {
    GraphMaker maker;
    const Shape shape{count};
    const auto y = maker.node(op("sigmoid"), {maker.input(shape, half)}, shape, {}, half);
    const auto z = maker.node(op("exp"), {y}, shape, {}, half);
    maker.output(
        maker.node(op("mul"), {z, maker.constant<float16>({}, {float16(-3.0F)})}, shape, {}, half));
    const std::vector<float16> input(all.begin(), all.begin() + count);
    Runner runner(kernels::make_cpu_backend(), maker.share());
    runner.set(0, input);
    runner.run();
    BOOST_TEST(runner.plan().describe().size() <= 2U);
    BOOST_TEST((runner.plan().constant_bytes() >= 0x20000) == (count > 70'000));
    const auto results = runner.get<float16>(0);
    for (std::size_t i = 0; i < input.size(); ++i) {
      const float expected = -3 * std::exp(1 / (1 + std::exp(-static_cast<float>(input[i]))));
      const auto actual = static_cast<float>(results[i]);
      // Two roundings: exp's, unless the product is in the chain, and the last.
      BOOST_TEST((std::isnan(actual) == std::isnan(expected) &&
                  !(std::fabs(actual - expected) > std::fabs(expected) * 0x1.01p-10F)),
                 i << ": " << actual << ", expected " << expected);
    }
  }
}

// The operators that other passes have fused are steps, too.
BOOST_AUTO_TEST_CASE(of_fused_operators) {
  GraphMaker maker;
  const Shape shape{50, 60};
  const auto x = maker.input(shape), y = maker.input(shape);
  auto z = maker.node(op("mul"), {x, y}, shape);
  z = maker.node(op("add"), {z, y}, shape);
  z = maker.node(op("sub"), {z, x}, shape);
  maker.output(maker.node(op("floor"), {z}, shape));
  const auto ran = check(maker, {numbers(3000, 1), numbers(3000, 2)}, "fused");
  BOOST_TEST(ran.steps.size() == 1U);
  BOOST_TEST(ran.steps[0].find("chain+mul+add+sub+floor") != std::string::npos, ran.steps[0]);
}

// An output, another reader, and an operand that broadcasts end a chain.
BOOST_AUTO_TEST_CASE(end_where_others_read) {
  const Shape shape{40, 30};
  const auto ran = [&](int kind) {
    GraphMaker maker;
    const auto x = maker.input(shape);
    const auto a = maker.node(op("abs"), {x}, shape), b = maker.node(op("floor"), {a}, shape);
    const auto last =
        maker.node(op("add"), {b, kind == 0 ? maker.random(shape) : maker.random({30})}, shape);
    if (kind == 2) {
      maker.output(maker.node(op("reverse"), {last}, shape,
                              ReverseAttributes{std::vector<std::uint32_t>{0}}));
      maker.output(b);
    } else {
      maker.output(last);
    }
    return check(maker, {numbers(1200, 5)}, std::to_string(kind));
  };
  BOOST_TEST(ran(0).steps.size() == 1U);
  const auto broadcast = ran(1), shared = ran(2);
  BOOST_TEST(broadcast.steps.size() == 2U);
  BOOST_TEST(broadcast.joined == 1U);
  BOOST_TEST(shared.steps.size() == 3U);
  BOOST_TEST(shared.joined == 1U);
}

// What a later step reads is not made within a chain.
BOOST_AUTO_TEST_CASE(leave_what_is_read_later) {
  GraphMaker maker;
  const Shape shape{40, 30};
  const auto a = maker.node(op("abs"), {maker.input(shape)}, shape);
  const auto b = maker.node(op("floor"), {a}, shape);
  const auto turned =
      maker.node(op("reverse"), {b}, shape, ReverseAttributes{std::vector<std::uint32_t>{0}});
  maker.output(maker.node(op("add"), {turned, a}, shape));
  const auto ran = check(maker, {numbers(1200, 5)}, "read later");
  BOOST_TEST(ran.steps.size() == 4U);
  BOOST_TEST(ran.joined == 0U);
}

// A long row of operators becomes several chains.
BOOST_AUTO_TEST_CASE(have_a_most_of_steps) {
  GraphMaker maker;
  const Shape shape{2000};
  const auto x = maker.input(shape);
  auto y = x;
  for (std::size_t i = 0; i < kernels::most_chain_steps; i += 2)
    y = maker.node(op("mul"), {maker.node(op("sin"), {y}, shape), x}, shape);
  maker.output(maker.node(op("floor"), {y}, shape));
  const auto ran = check(maker, {numbers(2000, 9)}, "long");
  BOOST_TEST(ran.steps.size() == 2U);
}

// Where the result lies in an operand's memory, and where scratch memory ends.
BOOST_AUTO_TEST_CASE(stay_in_their_memory) {
  kernels::Problem problem;
  problem.op = kernels::op_chain;
  const Shape shape{70'001};
  for (int i = 0; i < 2; ++i) problem.inputs.emplace_back().descriptor = {DataType::float32, shape};
  problem.outputs.emplace_back().descriptor = {DataType::float32, shape};
  problem.own_inputs = 2;
  problem.post_ops = {{op("abs"), {}, {0}}, {op("sub"), {}, {1, 2}}, {op("mul"), {}, {2, 3}}};
  const auto kernel = tests::own_kernel_of(problem);
  BOOST_TEST(kernel->parts() > 1U);
  BOOST_TEST(kernel->in_place(0));
  BOOST_TEST(kernel->in_place(1));
  const auto a = numbers(70'001, 1), b = numbers(70'001, 2);
  const auto results = [&](const auto& run) {
    return tests::run_fenced<float>(*kernel,
                                    {std::as_bytes(std::span(a)), std::as_bytes(std::span(b))},
                                    a.size(), "chain", run);
  };
  const auto whole = results(tests::run_whole), parts = results(tests::run_parts);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const float size = std::fabs(a[i]), expected = size * (b[i] - size);
    BOOST_REQUIRE((std::isnan(expected) ? std::isnan(whole[i]) : whole[i] == expected));
  }
  BOOST_TEST(std::memcmp(whole.data(), parts.data(), whole.size() * sizeof(float)) == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron
