// One program, any schedule, one outcome: the production actors under a seeded scheduler.
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <string>

#include "stress/program.hpp"

using namespace polychron;
using stress::ExhaustiveStrategy;
using stress::Program;
using stress::RandomStrategy;
using stress::World;

namespace {

/// Which seeds to try: one, from POLYCHRON_SEED, to see a failure again; else the first `count`.
std::pair<std::uint64_t, std::uint64_t> seeds(std::uint64_t count) {
  if (const char* seed = std::getenv("POLYCHRON_SEED")) {
    const auto one = std::stoull(seed);
    return {one, one + 1};
  }
  return {1, count + 1};
}

void fail(std::uint64_t seed, const Program& program, const std::string& why) {
  BOOST_ERROR(why << "\n  again with POLYCHRON_SEED=" << seed << "; the program:\n"
                  << to_string(program));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(schedules)

BOOST_AUTO_TEST_CASE(a_thousand_programs_agree_with_the_oracle_under_four_schedules_each) {
  const auto [first, last] = seeds(1000);
  std::size_t steps = 0;
  for (auto seed = first; seed < last; ++seed) {
    const auto program = stress::random_program(seed, 25);
    for (std::uint64_t schedule = 0; schedule < 4; ++schedule) {
      RandomStrategy strategy(seed * 1000 + schedule);
      World world(strategy);
      if (const auto why = run_program(world, program)) {
        fail(seed, program, *why);
        return;
      }
      steps += world.steps();
    }
  }
  BOOST_TEST_MESSAGE("schedules: " << 4 * (last - first) << ", messages: " << steps);
  BOOST_TEST(steps > 0U);
}

BOOST_AUTO_TEST_CASE(the_outcome_is_the_same_for_any_number_of_lanes) {
  const auto [first, last] = seeds(600);
  for (auto seed = first; seed < last; ++seed) {
    const auto program = stress::random_program(seed, 30);
    for (int lanes = 2; lanes <= 4; ++lanes) {
      RandomStrategy strategy(seed * 10 + static_cast<std::uint64_t>(lanes));
      World world(strategy);
      ContextOptions options;
      options.lanes = lanes;
      if (const auto why = run_program(world, program, options)) {
        fail(seed, program, *why + " with " + std::to_string(lanes) + " lanes");
        return;
      }
    }
  }
  BOOST_TEST(last > first);
}

BOOST_AUTO_TEST_CASE(one_program_has_one_outcome_under_two_thousand_schedules) {
  const auto program = stress::random_program(42, 30);
  const auto [first, last] = seeds(2000);
  for (auto seed = first; seed < last; ++seed) {
    RandomStrategy strategy(seed);
    World world(strategy);
    if (const auto why = run_program(world, program)) {
      fail(seed, program, *why);
      return;
    }
  }
  BOOST_TEST(last > first);
}

BOOST_AUTO_TEST_CASE(the_same_seed_gives_the_same_history) {
  const auto program = stress::random_program(7, 25);
  const auto steps = [&] {
    RandomStrategy strategy(11);
    World world(strategy);
    BOOST_TEST(!run_program(world, program).has_value());
    return world.steps();
  };
  BOOST_TEST(steps() == steps());
}

BOOST_AUTO_TEST_CASE(every_schedule_of_write_dispatch_read_gives_the_written_value) {
  using Kind = stress::Call::Kind;
  const Program program{{Kind::create, 0, {}, 0, 0},
                        {Kind::create, 1, {}, 0, 0},
                        {Kind::write, 0, {}, 0, 17},
                        {Kind::dispatch, 1, {0}, 0, 0},
                        {Kind::read, 1, {}, 0, 0}};
  ExhaustiveStrategy strategy;
  std::size_t schedules = 0;
  do {
    World world(strategy);
    if (const auto why = run_program(world, program)) {
      fail(0, program, *why);
      return;
    }
    ++schedules;
  } while (strategy.next() && schedules < 20000);
  BOOST_TEST_MESSAGE("schedules: " << schedules);
  BOOST_TEST(schedules > 100U);
}

BOOST_AUTO_TEST_SUITE_END()
