// A case of each operator with each of its types. `scripts/test.sh nightly` runs all cases: PoCL
// compiles a kernel in a second or so.
#include <boost/test/unit_test.hpp>
#include <set>

#include "apps/tool/conformance/case.hpp"
#include "tests/gpu/rig.hpp"
#include "tests/paths.hpp"

namespace polychron::testing {
namespace {

using conformance::Outcome;

/// The operators of a case, and the types of its inputs.
std::set<std::string> kind_of(const nlohmann::json& test) {
  std::set<std::string> kind;
  for (const auto& step : test.at("operators")) kind.insert(step.at("name").get<std::string>());
  for (const auto& input : test.at("inputs")) kind.insert(input.at("dataType").get<std::string>());
  return kind;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(numbers)

BOOST_AUTO_TEST_CASE(of_each_operator_and_type_are_right) {
  if (!has_gpu()) return;
  conformance::Runner runner(conformance::Zeros::alike, "gpu");
  std::set<std::set<std::string>> known;
  for (const auto& file : conformance::files_of(source_directory() + "/tests/conformance/cases"))
    for (const auto& test : conformance::cases_of(file)) {
      if (!known.insert(kind_of(test)).second) continue;
      const auto verdict = runner.run(test);
      BOOST_TEST((verdict.outcome == Outcome::passed), file.stem().string()
                                                           << " \"" << conformance::name_of(test)
                                                           << "\": " << verdict.reason);
    }
  BOOST_TEST_MESSAGE(known.size() << " cases, " << gpu_faults().kernels.load() << " kernels");
  BOOST_TEST(known.size() > 200U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron::testing
