// All schedules of small programs: none breaks the contract, and the reduction leaves out none that
// would have come to another end.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "observe/stress/small_scope.hpp"
#include "observe/stress/systematic.hpp"

using namespace polychron;
using stress::Kind;
using stress::Program;
using stress::SmallReport;
using stress::SmallScope;
using stress::SystematicStrategy;

namespace {

using Outcomes = std::set<std::string>;

std::string text_of(const std::optional<Error>& error) { return error ? error->what() : "nothing"; }

/// The answer to every call, and the order in which the context heard of them.
std::string outcome_of(const stress::History& history) {
  std::vector<std::string> told;
  std::string order;
  for (const auto& made : history.calls) {
    const auto label = stress::label_of(made.client, made.index);
    if (made.submitted) order += label + " ";
    auto& text = told.emplace_back(label + ": threw " + text_of(made.thrown));
    if (!made.answer) continue;
    text += ", answered " + text_of(made.answer->error) + ", found " + text_of(made.answer->found);
    if (made.answer->value) text += ", gave " + std::to_string(*made.answer->value);
  }
  std::ranges::sort(told);
  for (const auto& text : told) order += "\n  " + text;
  for (const auto& error : history.uncaptured)
    order += std::string("\n  uncaptured ") + error.what();
  return order;
}

/// All that come of `most` schedules; true if these were all.
bool collect(const Program& program, SystematicStrategy::Reduction reduction, std::size_t most,
             Outcomes& outcomes) {
  SystematicStrategy strategy(reduction);
  for (std::size_t schedules = 0; schedules < most; ++schedules) {
    const auto result = stress::run(program, strategy);
    BOOST_REQUIRE_MESSAGE(!result.finding, result.finding.value_or("") << " in\n"
                                                                       << to_string(program));
    outcomes.insert(outcome_of(result.histories.front()));
    if (!strategy.next()) return true;
  }
  return false;
}

/// Runs one program in this many; of the longer ones one in `thinned_more`, and at night all.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::size_t thinned = 40;
#else
constexpr std::size_t thinned = 1;
#endif
const std::size_t thinned_more = thinned == 1 && !std::getenv("POLYCHRON_NIGHTLY") ? 3 : thinned;

}  // namespace

BOOST_AUTO_TEST_SUITE(small_scope)

BOOST_AUTO_TEST_CASE(the_reduction_loses_no_outcome) {
  for (const auto reduction :
       {SystematicStrategy::Reduction::none, SystematicStrategy::Reduction::partial_order}) {
    // Everybody's order matters, and there are many of them.
    Program program;
    program.clients = {{{.kind = Kind::write, .value = 17}, {.kind = Kind::read}},
                       {{.kind = Kind::destroy_tensor}}};
    Outcomes outcomes;
    BOOST_TEST(collect(program, reduction, 100000, outcomes));
    BOOST_TEST(outcomes.size() == 4U);
  }
  std::size_t number = 0, compared = 0, whole = 0;
  for (const std::size_t calls : {2U, 3U})
    for (const int lanes : {1, 2})
      stress::each_small_program({.calls = calls, .lanes = lanes}, [&](const Program& program) {
        if (++number % ((calls == 2 ? 23 : 5003) * thinned) != 0) return true;
        Outcomes all, reduced;
        const bool complete = collect(program, SystematicStrategy::Reduction::none, 400, all);
        BOOST_TEST(collect(program, SystematicStrategy::Reduction::partial_order, 100000, reduced));
        for (const auto& outcome : all)
          BOOST_TEST(reduced.contains(outcome), "the reduced search does not meet this outcome of\n"
                                                    << to_string(program) << outcome);
        if (complete) BOOST_TEST(all.size() == reduced.size(), "of\n" << to_string(program));
        ++compared;
        whole += complete;
        return true;
      });
  BOOST_TEST_MESSAGE(compared << " programs compared, " << whole << " of them with every schedule");
  BOOST_TEST(whole >= 80 / thinned);
  BOOST_TEST(compared >= 300 / thinned);
}

BOOST_AUTO_TEST_CASE(no_small_program_breaks_the_contract_under_any_schedule) {
  const auto search = [](const SmallScope& scope, std::uint64_t programs) {
    const auto report = stress::explore_small(
        scope, [&](const SmallReport& so_far) { return so_far.programs < programs; });
    BOOST_TEST_MESSAGE(scope.calls << " calls, " << scope.lanes << " lanes: " << report.programs
                                   << " of " << report.of_programs << " programs, "
                                   << report.schedules << " schedules, " << report.redundant
                                   << " redundant, " << report.states << " states");
    if (report.finding)
      BOOST_ERROR(report.finding->what << "\n"
                                       << to_string(report.finding->program)
                                       << "polychron stress --replay " << report.finding->token);
    BOOST_TEST(report.programs == std::min(programs, report.of_programs));
    BOOST_TEST(report.states > report.schedules);
  };
  for (const int lanes : {1, 2}) {
    search({.calls = 1, .lanes = lanes}, 1000);
    search({.calls = 2, .lanes = lanes}, 10000 / (thinned * 4 - 3));
    search({.calls = 3, .lanes = lanes}, 300 / thinned_more);
    search({.calls = 4, .lanes = lanes}, 40 / thinned_more);
  }
}

BOOST_AUTO_TEST_SUITE_END()
