// Depthwise convolutions in loops of our own: the memory that they read and write, in which
// parts.
#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <thread>

#include "kernels/cpu/cut_kernel.hpp"
#include "kernels/epilogue.hpp"
#include "kernels/fusion.hpp"
#include "ops/table.hpp"
#include "tests/kernels/convolutions.hpp"
#include "tests/kernels/fences.hpp"
#include "tests/kernels/wide_loops.hpp"

namespace polychron {
namespace {

using ops::op;
using tests::depthwise;
using tests::name_of;
using tests::Prepared;
using tests::Random;
using tests::random_depthwise;
using tests::same;
using tests::takes_depthwise;

}  // namespace

BOOST_AUTO_TEST_SUITE(depthwise_memory)

// Rows of all blocks are shared, so that parts are alike. Small ones stay whole. No row is computed
// twice, and the parts of any threads make the whole.
BOOST_AUTO_TEST_CASE(parts_in_any_order_make_the_whole) {
  if (!tests::has_fused_loops()) return;
  for (const auto& cut :
       {std::pair(depthwise(96, 28, 29), 2U), std::pair(depthwise(96, 112, 111, 3, 2), 4U),
        std::pair(depthwise(16, 43, 60, 5), 2U), std::pair(depthwise(16, 8, 8), 1U)}) {
    const auto& c = cut.first;
    const std::size_t parts = cut.second;
    auto maker = c.maker(2, true);
    maker.then_with(op("add"), c.result()).then(op("relu"));
    const Prepared prepared(maker);
    std::string text;
    BOOST_TEST(kernels::prepare_in_parts(prepared.problem, text)->parts() == parts, text);
    BOOST_TEST(text.starts_with("direct: "), text);
    const auto whole = prepared.result();
    std::size_t written = 0, largest = 0;
    for (std::size_t part = 0; part < parts; ++part) {
      const auto result = prepared.result([&](kernels::Bound& bound) { bound.run_part(part); });
      const auto own = static_cast<std::size_t>(
          std::ranges::count_if(result.as<float>(), [](float x) { return !std::isnan(x); }));
      written += own;
      largest = std::max(largest, own);
    }
    BOOST_TEST(written == whole.as<float>().size(), text);
    BOOST_TEST(largest < written / parts + 2 * c.result()[3] * 16, text);
    const auto backwards = prepared.result([&](kernels::Bound& bound) {
      BOOST_TEST(bound.parts() == parts);
      for (std::size_t i = parts; i-- > 0;) bound.run_part(i);
    });
    const auto threaded = prepared.result([&](kernels::Bound& bound) {
      std::vector<std::thread> threads;
      for (std::size_t i = 0; i < parts; ++i)
        threads.emplace_back([&bound, i] { bound.run_part(i); });
      for (auto& thread : threads) thread.join();
    });
    BOOST_TEST(same(whole.bytes(), backwards), text);
    BOOST_TEST(same(whole.bytes(), threaded), text);
  }
}

// Also where windows begin before the picture, and end behind it.
BOOST_AUTO_TEST_CASE(nothing_beside_the_operands_is_touched) {
  if (!tests::has_fused_loops()) return;
  for (const bool at_end : {true, false})
    for (std::uint32_t seed = 2000; seed < 2100; ++seed)
      tests::run_between_fences(random_depthwise(seed), at_end);
}

// A result may lie where a caller has memory, an operand where a slice begins.
BOOST_AUTO_TEST_CASE(operands_may_lie_anywhere) {
  if (!tests::has_fused_loops()) return;
  for (std::uint32_t seed = 3000; seed < 3060; ++seed)
    tests::run_misaligned(random_depthwise(seed));
}

// A plan's memory is another for each call.
BOOST_AUTO_TEST_CASE(operands_that_moved_are_found) {
  if (!tests::has_fused_loops()) return;
  tests::run_elsewhere(depthwise(40, 6, 17));
}

// The filter as it came is needed no more.
BOOST_AUTO_TEST_CASE(the_filter_is_kept_in_blocks_alone) {
  if (!tests::has_fused_loops()) return;
  const Prepared prepared(depthwise(41, 6, 17, 5).maker(5, true));
  const std::size_t filled = 48;  // whole blocks of 8 or 16
  BOOST_TEST(prepared.kernel->keeps_constant(1));
  BOOST_TEST(!prepared.kernel->keeps_constant(0));
  BOOST_TEST(!prepared.kernel->keeps_constant(2));
  BOOST_TEST(prepared.kernel->constant_bytes() == filled * 25 * sizeof(float));
  BOOST_TEST(prepared.kernel->scratch_bytes() == 0U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron
