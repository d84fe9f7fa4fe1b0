// The public suite's numeric cases (../shared/conformance/*.json), through builder, compiler and
// device. Generic over the operator table: operators that it does not have yet are counted and
// named.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <map>

#include "conformance/case.hpp"

using namespace polychron::conformance;

BOOST_AUTO_TEST_SUITE(conformance)

BOOST_AUTO_TEST_CASE(every_case) {
  const std::filesystem::path folder = POLYCHRON_SOURCE_DIR "/../shared/conformance";
  if (!std::filesystem::exists(folder)) {
    BOOST_TEST_MESSAGE("skipped: ../shared is absent");
    return;
  }
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

BOOST_AUTO_TEST_SUITE_END()
