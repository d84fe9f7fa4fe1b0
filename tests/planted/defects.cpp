// The proof that the stress tool finds defects: each of those in defects.cmake, by every strategy,
// in how many schedules. POLYCHRON_SEED: the first seed. POLYCHRON_DEFECT: only that one, by
// number. POLYCHRON_NIGHTLY: also by the other strategies and by small programs, for the table of
// docs/stress.md. The test requires nothing of these.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <cstdlib>
#include <iomanip>
#include <sstream>

#include "observe/stress/small_scope.hpp"
#include "tests/planted/planted.hpp"

using namespace polychron;

namespace {

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* const given = std::getenv(variable);
  return given == nullptr ? otherwise : std::strtoull(given, nullptr, 10);
}

constexpr std::uint64_t crashed = ~std::uint64_t{0};

std::uint64_t search_here(stress::Search search, std::uint64_t most) {
  stress::Exploration exploration;
  exploration.seed = number_from("POLYCHRON_SEED", 1);
  exploration.schedules = most;
  exploration.search = search;
  exploration.shrinks = false;
  const auto report = stress::explore(exploration);
  return report.finding ? report.finding->schedules : 0;
}

/// In all schedules of small programs, of more and more calls.
std::uint64_t search_small_programs(std::uint64_t most) {
  std::uint64_t schedules = 0;
  const auto finds = [&](const stress::SmallScope& scope) {
    const auto report = stress::explore_small(scope, [&](const stress::SmallReport& so_far) {
      return schedules + so_far.schedules < most;
    });
    schedules += report.schedules;
    return report.finding.has_value();
  };
  for (std::size_t calls = 1; calls <= 4; ++calls)
    for (const bool faults : {false, true})
      if (finds({.calls = calls, .lanes = 2, .faults = faults})) return schedules;
  return 0;
}

/// The result of `search()`: the number of schedules after which it finds the defect that is
/// switched on; 0 if it does not. In a process of its own, because some defects end theirs.
template <class F>
std::uint64_t schedules_until_found(F search) {
  std::array<int, 2> ends{};
  BOOST_REQUIRE(pipe(ends.data()) == 0);
  const auto child = fork();
  BOOST_REQUIRE(child >= 0);
  if (child == 0) {
    // A crash is a result, and nothing to tell about.
    for (const int crash : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE}) std::signal(crash, SIG_DFL);
    const auto found = search();
    _exit(write(ends[1], &found, sizeof found) == sizeof found ? 0 : 1);
  }
  close(ends[1]);
  std::uint64_t found = 0;
  const auto got = read(ends[0], &found, sizeof found);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return got == sizeof found ? found : crashed;
}

std::string as_text(std::uint64_t found) {
  if (found == crashed) return "crash";
  return found == 0 ? "-" : std::to_string(found);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(defects)

BOOST_AUTO_TEST_CASE(nothing_is_found_where_nothing_is_wrong) {
  planted::defect = 0;
  BOOST_TEST(schedules_until_found([] { return search_here(stress::Search::mixed, 4000); }) == 0U);
  BOOST_TEST(schedules_until_found([] { return search_small_programs(8000); }) == 0U);
}

BOOST_AUTO_TEST_CASE(each_has_its_marker) {
  for (const auto* miss = planted::misses; *miss != nullptr; ++miss) BOOST_ERROR(*miss);
}

BOOST_AUTO_TEST_CASE(each_is_found) {
  std::ostringstream table;
  std::vector<std::uint64_t> needed;
  const bool nightly = std::getenv("POLYCHRON_NIGHTLY") != nullptr;
  std::vector<stress::Search> searches{stress::Search::mixed};
  if (nightly) searches.assign(stress::searches.begin(), stress::searches.end());
  for (const auto search : searches) table << std::setw(12) << to_string(search);
  if (nightly) table << std::setw(12) << "small";
  table << '\n';
  const auto only = number_from("POLYCHRON_DEFECT", 0);
  for (std::size_t defect = 1; planted::names[defect] != nullptr; ++defect) {
    if (only != 0 && only != defect) continue;
    planted::defect = defect;
    for (const auto search : searches) {
      const bool by_default = search == stress::Search::mixed;
      const auto found =
          schedules_until_found([&] { return search_here(search, by_default ? 10000 : 2000); });
      table << std::setw(12) << as_text(found);
      if (!by_default) continue;
      BOOST_TEST(found != 0U, defect << ", " << planted::names[defect] << ": not found");
      needed.push_back(found == 0 ? crashed : found);
    }
    if (nightly)
      table << std::setw(12)
            << as_text(schedules_until_found([] { return search_small_programs(20000); }));
    table << "  " << defect << ' ' << planted::names[defect] << '\n';
  }
  planted::defect = 0;
  BOOST_TEST_MESSAGE("schedules until a defect was found (-: not in 2000):\n" << table.str());
  if (only != 0) return;
  BOOST_TEST(needed.size() >= 24U);
  std::ranges::sort(needed);
  BOOST_TEST(needed[needed.size() / 2] <= 300U, "the median is " << needed[needed.size() / 2]);
}

// The first finding of each defect that is found soon, shrunk: few calls are left, and its token
// finds it again.
BOOST_AUTO_TEST_CASE(a_finding_is_shrunk_and_found_again) {
  for (const std::size_t defect : {2, 5, 22, 26}) {
    planted::defect = defect;
    stress::Exploration exploration;
    exploration.schedules = 2000;
    const auto report = stress::explore(exploration);
    BOOST_REQUIRE_MESSAGE(report.finding, planted::names[defect] << " is not found");
    const auto& finding = *report.finding;
    BOOST_TEST(finding.program.calls() <= 6U, planted::names[defect] << ":\n"
                                                                     << to_string(finding.program));
    BOOST_TEST(stress::replay(finding.token).finding.value_or("nothing") == finding.what);
    planted::defect = 0;
    BOOST_TEST(stress::replay(finding.token).finding.value_or("nothing") == "nothing");
  }
  planted::defect = 0;
}

BOOST_AUTO_TEST_SUITE_END()
