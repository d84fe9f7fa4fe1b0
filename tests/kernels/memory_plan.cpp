// Properties of the arena's layout, over random lifetimes.
#include "kernels/cpu/memory_plan.hpp"

#include <boost/test/unit_test.hpp>
#include <random>

#include "polychron/buffer.hpp"

namespace polychron {
namespace {

using kernels::Lifetime;
using kernels::plan_memory;

bool overlap(const Lifetime& a, const Lifetime& b) {
  return a.first <= b.last && b.first <= a.last;
}

/// The most bytes that live at one step: no plan can take less.
std::size_t lower_bound(const std::vector<Lifetime>& lifetimes, std::size_t steps) {
  std::size_t most = 0;
  for (std::size_t step = 0; step < steps; ++step) {
    std::size_t live = 0;
    for (const Lifetime& lifetime : lifetimes)
      if (lifetime.first <= step && step <= lifetime.last) live += lifetime.bytes;
    most = std::max(most, live);
  }
  return most;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(memory_plan)

BOOST_AUTO_TEST_CASE(live_buffers_never_overlap) {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 generator(seed);
    const auto pick = [&](std::size_t low, std::size_t high) {
      return std::uniform_int_distribution<std::size_t>(low, high)(generator);
    };
    std::vector<Lifetime> lifetimes;
    for (std::size_t i = pick(1, 60); i > 0; --i) {
      const std::size_t first = pick(0, 40);
      lifetimes.push_back({pick(0, 5000), first, first + pick(0, 6)});
    }
    const auto plan = plan_memory(lifetimes);
    BOOST_REQUIRE_EQUAL(plan.offsets.size(), lifetimes.size());
    for (std::size_t i = 0; i < lifetimes.size(); ++i) {
      BOOST_TEST(plan.offsets[i] % Buffer::alignment == 0, "seed " << seed);
      BOOST_TEST(plan.offsets[i] + lifetimes[i].bytes <= plan.bytes, "seed " << seed);
      for (std::size_t k = 0; k < i; ++k) {
        if (!overlap(lifetimes[i], lifetimes[k])) continue;
        const bool apart = plan.offsets[i] + lifetimes[i].bytes <= plan.offsets[k] ||
                           plan.offsets[k] + lifetimes[k].bytes <= plan.offsets[i];
        BOOST_TEST((apart || lifetimes[i].bytes == 0 || lifetimes[k].bytes == 0),
                   "seed " << seed << ": buffers " << k << " and " << i);
      }
    }
  }
}

// A chain needs two buffers at a time, however long it is.
BOOST_AUTO_TEST_CASE(a_chain_takes_two_buffers) {
  std::vector<Lifetime> lifetimes;
  for (std::size_t i = 0; i < 100; ++i) lifetimes.push_back({1024, i, i + 1});
  BOOST_TEST(plan_memory(lifetimes).bytes == 2048U);
}

BOOST_AUTO_TEST_CASE(reuse_is_near_the_lower_bound) {
  std::mt19937 generator(3);
  std::uniform_int_distribution<std::size_t> sizes(1, 64), starts(0, 200), spans(0, 5);
  std::vector<Lifetime> lifetimes;
  for (std::size_t i = 0; i < 300; ++i) {
    const std::size_t first = starts(generator);
    lifetimes.push_back({sizes(generator) * 64, first, first + spans(generator)});
  }
  const std::size_t bound = lower_bound(lifetimes, 210);
  BOOST_TEST(plan_memory(lifetimes).bytes >= bound);
  BOOST_TEST(plan_memory(lifetimes).bytes <= bound * 5 / 4);
}

BOOST_AUTO_TEST_CASE(nothing_takes_nothing) { BOOST_TEST(plan_memory({}).bytes == 0U); }

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron
