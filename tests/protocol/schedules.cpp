// One program, any schedule, one outcome: the production actors under a seeded scheduler, compared
// with the model of the contract.
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <string>

#include "observe/stress/explorer.hpp"

using namespace polychron;
using stress::Program;
using stress::RandomStrategy;

namespace {

/// The seeds to try: one, from POLYCHRON_SEED, to repeat a failure; else the first `count`.
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

BOOST_AUTO_TEST_CASE(thousands_of_programs_agree_with_the_model_under_every_strategy) {
  stress::Exploration exploration;
  const auto [first, last] = seeds(1);
  exploration.seed = first;
  exploration.schedules = 12000;
  const auto report = stress::explore(exploration);
  BOOST_TEST_MESSAGE("schedules: " << report.schedules << ", messages: " << report.messages);
  BOOST_TEST(report.schedules >= 12000U);
  if (report.finding)
    fail(report.finding->seed, report.finding->program,
         report.finding->what + "\n  polychron stress --replay " + report.finding->token);
}

BOOST_AUTO_TEST_CASE(the_outcome_is_the_same_for_any_number_of_lanes) {
  const auto [first, last] = seeds(400);
  for (auto seed = first; seed < last; ++seed) {
    auto program = stress::random_program(seed, {.clients = 1, .calls = 30, .faults = {}});
    for (program.lanes = 1; program.lanes <= 4; ++program.lanes) {
      RandomStrategy strategy(seed * 10 + static_cast<std::uint64_t>(program.lanes));
      if (const auto why = stress::run(program, strategy).finding) return fail(seed, program, *why);
    }
  }
  BOOST_TEST(last > first);
}

BOOST_AUTO_TEST_CASE(one_program_has_one_outcome_under_two_thousand_schedules) {
  const auto program = stress::random_program(42);
  const auto [first, last] = seeds(2000);
  for (auto seed = first; seed < last; ++seed) {
    RandomStrategy strategy(seed);
    if (const auto why = stress::run(program, strategy).finding) return fail(seed, program, *why);
  }
  BOOST_TEST(last > first);
}

BOOST_AUTO_TEST_CASE(the_same_seed_gives_the_same_history) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const auto program = stress::random_program(seed);
    RandomStrategy one(11), other(11);
    const auto first = stress::run(program, one), second = stress::run(program, other);
    BOOST_TEST((first.schedule == second.schedule), "seed " << seed);
    BOOST_TEST(first.messages == second.messages, "seed " << seed);
    BOOST_REQUIRE_EQUAL(first.histories.at(0).calls.size(), second.histories.at(0).calls.size());
    for (std::size_t i = 0; i < first.histories.at(0).calls.size(); ++i) {
      const auto& a = first.histories.at(0).calls[i];
      const auto& b = second.histories.at(0).calls[i];
      BOOST_TEST((a.client == b.client && a.index == b.index), "seed " << seed << ", call " << i);
      BOOST_TEST((a.answer && a.answer->value) == (b.answer && b.answer->value));
      if (a.answer && a.answer->value) BOOST_TEST(*a.answer->value == *b.answer->value);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
