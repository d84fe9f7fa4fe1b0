// Numeric cases through builder, compiler and device. The project's own (cases/) are made from the
// specification without any of this code. The public suite's run too, if they are beside the
// project. Generic over the operator table: operators that it does not have yet are counted and
// named.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "apps/tool/conformance/case.hpp"
#include "apps/tool/conformance/values.hpp"
#include "ops/table.hpp"
#include "tests/paths.hpp"

using namespace polychron::conformance;

BOOST_AUTO_TEST_SUITE(conformance)

namespace {

const std::filesystem::path own =
    polychron::testing::source_directory() + "/tests/conformance/cases";

void run_all(const std::filesystem::path& folder) {
  Runner runner;
  int passed = 0, skipped = 0;
  std::map<std::string, int> reasons;
  for (const auto& file : files_of(folder))
    for (const auto& test : cases_of(file)) {
      const auto verdict = runner.run(test);
      BOOST_TEST((verdict.outcome != Outcome::failed),
                 file.stem().string() << " \"" << name_of(test) << "\": " << verdict.reason);
      passed += verdict.outcome == Outcome::passed;
      if (verdict.outcome == Outcome::skipped) ++reasons[verdict.reason], ++skipped;
    }
  for (const auto& [reason, count] : reasons)
    BOOST_TEST_MESSAGE("not run: " << count << " cases, " << reason);
  BOOST_TEST_MESSAGE(passed << " cases passed, " << skipped << " not run");
  BOOST_TEST(passed > 0);
}

/// An expected number beyond every tolerance; some are of thousands of float16's values.
json moved_away(const json& value, const std::string& type) {
  if (type == "float32" || type == "float16") {
    const double number = real_of(value);
    return std::abs(number) > 1 ? -number / 2 : -1000.0;  // NaN becomes a number
  }
  if (value.is_string()) return value == "0n" ? "7n" : "0n";
  return value == 0 ? 7 : 0;
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_case) { run_all(own); }

BOOST_AUTO_TEST_CASE(every_case_of_the_public_suite) {
  const std::filesystem::path folder =
      polychron::testing::source_directory() + "/../shared/conformance";
  if (!std::filesystem::exists(folder)) {
    BOOST_TEST_MESSAGE(
        "skipped: ../shared is absent: the public suite's numbers, beside this project's own");
    return;
  }
  run_all(folder);
}

BOOST_AUTO_TEST_CASE(every_operator_has_cases) {
  constexpr int least = 3;
  for (const auto& row : polychron::ops::rows()) {
    const std::string name(row.name);
    const auto file = own / (name + ".json");
    BOOST_REQUIRE_MESSAGE(std::filesystem::exists(file), "there are no cases of " << name);
    std::set<std::string> names;
    for (const auto& test : cases_of(file)) {
      BOOST_TEST(has_operator(test, name), name << " is not in \"" << name_of(test) << '"');
      BOOST_TEST(names.insert(name_of(test)).second, "there are two \"" << name_of(test) << '"');
    }
    BOOST_TEST(names.size() >= least, name << " has " << names.size() << " cases");
  }
}

// Each output's last element is expected to be another number. A runner that does not look at an
// output would pass, and so would a tolerance that allows anything.
BOOST_AUTO_TEST_CASE(every_case_can_fail) {
  Runner runner;
  for (const auto& file : files_of(own))
    for (auto test : cases_of(file))
      for (auto& [name, output] : test.at("outputs").items()) {
        auto wrong = test;
        auto& element = wrong["outputs"][name]["data"].back();
        element = moved_away(element, output.at("dataType"));
        const auto verdict = runner.run(wrong);
        BOOST_TEST((verdict.outcome == Outcome::failed && verdict.worst.has_value()),
                   file.stem().string() << " \"" << name_of(test) << "\", output " << name
                                        << ": nothing is found wrong with " << element.dump());
      }
}

BOOST_AUTO_TEST_SUITE_END()
