// Plans: the steps that run, the places of results, and rules of execution.
#include "kernels/cpu/cpu_backend.hpp"

#include <malloc.h>

#include <boost/test/unit_test.hpp>
#include <numeric>

#include "kernels/problem.hpp"
#include "ops/table.hpp"
#include "tests/kernels/allocations.hpp"
#include "tests/kernels/graphs.hpp"

namespace polychron {
namespace {

using ops::op;
using tests::GraphMaker;
using tests::Runner;

std::shared_ptr<kernels::Backend> cpu() { return kernels::make_cpu_backend(); }

}  // namespace

BOOST_AUTO_TEST_SUITE(plan)

BOOST_AUTO_TEST_CASE(adds_two_tensors) {
  GraphMaker maker;
  const auto a = maker.input({4}), b = maker.input({1});
  maker.output(maker.node(op("add"), {a, b}, {4}));
  Runner runner(cpu(), maker.share());
  runner.set<float>(0, {1, 2, 3, 4});
  runner.set<float>(1, {10});
  runner.run();
  const std::vector<float> expected{11, 12, 13, 14};
  BOOST_TEST(runner.get<float>(0) == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(int64_is_exact) {
  GraphMaker maker;
  const auto a = maker.input({2}, DataType::int64), b = maker.input({2}, DataType::int64);
  maker.output(maker.node(op("mul"), {a, b}, {2}, {}, DataType::int64));
  Runner runner(cpu(), maker.share());
  runner.set<std::int64_t>(0, {9007199254740993, -3});
  runner.set<std::int64_t>(1, {1, 3074457345618258602});
  runner.run();
  const std::vector<std::int64_t> expected{9007199254740993, -9223372036854775806};
  BOOST_TEST(runner.get<std::int64_t>(0) == expected, boost::test_tools::per_element());
}

// A value that is an output twice, an output that is a view of another, an input and a constant as
// outputs: each has bytes of its own.
BOOST_AUTO_TEST_CASE(outputs_are_separate) {
  GraphMaker maker;
  const auto x = maker.input({2, 2});
  const auto y = maker.node(op("neg"), {x}, {2, 2});
  maker.output(y);
  maker.output(y);
  maker.output(maker.node(op("reshape"), {y}, {4}, ReshapeAttributes{{4}}));
  maker.output(maker.node(op("identity"), {x}, {2, 2}));
  const auto constant = maker.constant<float>({2}, {5, 6});
  maker.output(maker.node(op("identity"), {constant}, {2}));
  Runner runner(cpu(), maker.share());
  runner.set<float>(0, {1, 2, 3, 4});
  runner.run();
  const std::vector<float> negative{-1, -2, -3, -4}, same{1, 2, 3, 4}, fixed{5, 6};
  for (std::size_t i = 0; i < 3; ++i)
    BOOST_TEST(runner.get<float>(i) == negative, boost::test_tools::per_element());
  BOOST_TEST(runner.get<float>(3) == same, boost::test_tools::per_element());
  BOOST_TEST(runner.get<float>(4) == fixed, boost::test_tools::per_element());
}

// oneDNN itself allocates a little in each call; what is counted is this library's.
BOOST_AUTO_TEST_CASE(executing_allocates_nothing) {
  GraphMaker maker;
  const Shape shape{1, 16, 9, 9};
  const auto x = maker.input(shape);
  const auto y = maker.node(op("conv2d"), {x, maker.random({16, 16, 3, 3}), maker.random({16})},
                            shape, Conv2dAttributes{.padding = {1, 1, 1, 1}});
  const auto z = maker.node(op("mul"), {y, maker.node(op("erf"), {y}, shape)}, shape);
  const auto p = maker.node(op("matmul"), {z, maker.random({9, 9})}, shape);
  maker.output(maker.node(op("softmax"), {p}, shape, SoftmaxAttributes{3}));
  Runner runner(cpu(), maker.share());
  runner.randomize(1);
  runner.run();
  BOOST_TEST(tests::allocations_in([&] { runner.randomize(2); }).value_or(1) > 0U);  // it counts
  const auto count = tests::allocations_in([&] { runner.run_in_place(); });
  if (count)
    BOOST_TEST(*count == 0U);
  else
    BOOST_TEST_MESSAGE("skipped: a sanitizer has operator new");
}

// Weights that kernels keep in their own form are freed one by one: two copies of all never exist
// at once.
BOOST_AUTO_TEST_CASE(constants_go_one_by_one) {
  constexpr std::uint32_t count = 8, size = 1024;  // of 4 MiB each
  constexpr std::size_t bytes = std::size_t{size} * size * sizeof(float);
  std::vector<std::size_t> held;  // by the heap, as each goes
  const auto heap = [] { return mallinfo2().uordblks + mallinfo2().hblkhd; };
  auto graph = [&] {
    GraphMaker maker;
    auto x = maker.input({4, size});
    for (std::uint32_t i = 0; i < count; ++i) {
      auto* const memory = new std::byte[bytes];
      auto buffer = Buffer::adopt(memory, bytes, [&](std::byte* gone, std::size_t) {
        held.push_back(heap());
        delete[] gone;
      });
      // Parts of constants that are alike are kept once.
      std::iota(buffer.as<float>().begin(), buffer.as<float>().end(),
                static_cast<float>(i * size * size));
      x = maker.node(op("matmul"), {x, maker.constant({size, size}, std::move(buffer))}, {4, size});
    }
    maker.output(x);
    return maker.share();
  }();
  const auto before = heap();
  const auto plan = cpu()->compile(std::move(graph)).value();
  BOOST_REQUIRE(held.size() == count);
  if (before == 0) {
    BOOST_TEST_MESSAGE("skipped: a sanitizer has malloc");
    return;
  }
  BOOST_TEST(plan->constant_bytes() >= count * bytes);
  for (std::size_t i = 0; i < count; ++i)
    BOOST_TEST(held[i] < before + 2 * bytes, "constant " << i << " goes when the heap has "
                                                         << held[i] << " bytes, " << before
                                                         << " at first");
}

// A graph that no kernel can compute is refused, with the reasons of all.
BOOST_AUTO_TEST_CASE(refusals_are_told) {
  GraphMaker maker;
  const auto x = maker.input({2}, DataType::int32);
  maker.output(maker.node(kernels::op_reorder, {x}, {2}, {}, DataType::int32));
  auto result = cpu()->compile(maker.share());
  BOOST_REQUIRE(!result);
  const std::string what = result.error().what();
  for (const char* part : {"reorder int32", "no implementation", "onednn: float32 only"})
    BOOST_TEST(what.find(part) != std::string::npos, what);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron
