// Every rule of the stress tool's model has histories that only it refuses, and that only it lets
// pass: with any part of it switched off, one of them is judged differently. The cases are in the
// other files here. switches/make_switches.cpp defines the parts that can be switched off.
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <csignal>
#include <string>

#include "tests/rules/story.hpp"
#include "tests/rules/switches/switches.hpp"

using namespace polychron;
using rules::Case;

namespace {

const std::vector<Case>& all_cases() {
  static const std::vector<Case> all = [] {
    std::vector<Case> cases;
    for (const auto some :
         {rules::contents_cases, rules::observation_cases, rules::lease_cases, rules::refusal_cases,
          rules::quiescence_cases, rules::scarcity_cases, rules::context_cases})
      for (auto& each : some()) cases.push_back(std::move(each));
    return cases;
  }();
  return all;
}

/// It says what the case expects of it.
bool as_expected(const Case& each, bool broken) {
  const auto said = each.judge(broken);
  if (!broken || *each.refusal == '\0') return !said;
  return said && said->find(each.refusal) != std::string::npos;
}

/// Some case is judged differently, or the model cannot even be asked. In a process of its own,
/// which it may take with it.
bool noticed(std::size_t number) {
  const auto child = fork();
  BOOST_REQUIRE(child >= 0);
  if (child == 0) {
    for (const int crash : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE}) std::signal(crash, SIG_DFL);
    rules::off = number;
    try {
      for (const auto& each : all_cases())
        if (!as_expected(each, true) || !as_expected(each, false)) _exit(1);
    } catch (...) {
      _exit(2);
    }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status != 0;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(rules)

BOOST_AUTO_TEST_CASE(what_breaks_one_is_refused_and_the_like_is_not) {
  for (const auto& each : all_cases()) {
    const auto said = each.judge(true);
    BOOST_TEST(as_expected(each, true), each.rule << ": expected '" << each.refusal
                                                  << "', got: " << said.value_or("nothing"));
    BOOST_TEST(as_expected(each, false), each.rule << ": the innocent one was refused: "
                                                   << each.judge(false).value_or("it passed"));
  }
}

BOOST_AUTO_TEST_CASE(each_part_of_each_rule_is_missed) {
  std::size_t count = 0;
  for (std::size_t number = 1; polychron::rules::switches[number] != nullptr; ++number, ++count)
    BOOST_TEST(noticed(number), "nobody notices: " << polychron::rules::switches[number]);
  BOOST_TEST_MESSAGE(count << " parts of rules, " << 2 * all_cases().size() << " histories");
  BOOST_TEST(count >= 200U,
             "only " << count << " parts were found: does make_switches still read?");
}

BOOST_AUTO_TEST_SUITE_END()
