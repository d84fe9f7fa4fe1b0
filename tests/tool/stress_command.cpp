// polychron stress, as a user types it.
#include <boost/test/unit_test.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

#include "observe/stress/explorer.hpp"
#include "tests/tool/command.hpp"

using test_tool::check_mistake;
using test_tool::run_tool;

BOOST_AUTO_TEST_SUITE(stress_command)

BOOST_AUTO_TEST_CASE(a_search_tells_what_it_did) {
  const auto outcome = run_tool({"stress", "--seed", "7", "--schedules", "300"});
  BOOST_TEST(outcome.exit_code == 0, outcome.output);
  for (const std::string part :
       {"seed 7, strategy mixed: 300 schedules", "coverage", "nothing was found"})
    BOOST_TEST((outcome.output.find(part) != std::string::npos), part << " in: " << outcome.output);
  // No figure for schedules that were not run.
  BOOST_TEST((outcome.output.find("after 1024") == std::string::npos), outcome.output);
}

BOOST_AUTO_TEST_CASE(every_strategy_searches) {
  for (const std::string strategy : {"random", "pct", "pos", "surw", "coverage", "round-robin"}) {
    const auto outcome = run_tool({"stress", "--seed", "3", "--schedules", "90", "--strategy",
                                   strategy, "--jobs", "2", "--json"});
    BOOST_TEST(outcome.exit_code == 0, outcome.output);
    const auto report = nlohmann::json::parse(outcome.output);
    BOOST_TEST(report.at("schedules").get<int>() >= 90);
    BOOST_TEST(report.at("strategy").get<std::string>() == strategy);
    BOOST_TEST(!report.contains("finding"));
  }
}

BOOST_AUTO_TEST_CASE(real_kernels_compute) {
  const auto outcome =
      run_tool({"stress", "--seed", "7", "--schedules", "150", "--backend", "real"});
  BOOST_TEST(outcome.exit_code == 0, outcome.output);
  BOOST_TEST((outcome.output.find("nothing was found") != std::string::npos), outcome.output);
}

BOOST_AUTO_TEST_CASE(faults_are_chosen_by_name) {
  for (const std::string faults :
       {"none", "execution", "allocation,adoption,read,build", "instantiation,execution"}) {
    const auto outcome =
        run_tool({"stress", "--seed", "7", "--schedules", "150", "--faults", faults});
    BOOST_TEST(outcome.exit_code == 0, faults << ": " << outcome.output);
  }
  check_mistake(run_tool({"stress", "--faults", "earthquake"}), "earthquake");
  check_mistake(run_tool({"stress", "--faults", "read", "--no-faults"}), "--no-faults");
}

BOOST_AUTO_TEST_CASE(small_programs_are_searched_to_the_end) {
  const auto outcome = run_tool({"stress", "--exhaustive", "1", "--jobs", "2"});
  BOOST_TEST(outcome.exit_code == 0, outcome.output);
  for (const std::string part : {"all ", "programs of 1 calls", "states", "nothing was found"})
    BOOST_TEST((outcome.output.find(part) != std::string::npos), part << " in: " << outcome.output);
  const auto cut = run_tool({"stress", "--exhaustive", "4", "--seconds", "0.2", "--json"});
  const auto report = nlohmann::json::parse(cut.output);
  BOOST_TEST(report.at("programs").get<int>() > 0);
  BOOST_TEST(report.at("programs").get<int>() < report.at("of_programs").get<int>());
  BOOST_TEST(report.at("states").get<int>() > report.at("schedules").get<int>());
}

BOOST_AUTO_TEST_CASE(a_replay_is_written_as_a_trace) {
  const test_tool::TemporaryDirectory directory;
  const auto path = directory / "run.trace";
  const auto token = polychron::stress::token_of(polychron::stress::random_program(3), {});
  const auto outcome = run_tool({"stress", "--replay", token, "--trace", path});
  BOOST_TEST(outcome.exit_code == 0, outcome.output);
  const auto chrome = run_tool({"trace", "chrome", path});
  BOOST_TEST(nlohmann::json::parse(chrome.output).at("traceEvents").size() > 50U);
  BOOST_TEST(run_tool({"trace", "check", path}).exit_code == 0);
  BOOST_TEST(run_tool({"trace", "replay", path}).exit_code == 0);
  check_mistake(run_tool({"stress", "--replay", token, "--trace", "/no/such/place"}), "place");
}

BOOST_AUTO_TEST_CASE(mistakes_are_told) {
  check_mistake(run_tool({"stress", "--backend", "imaginary"}), "imaginary");
  check_mistake(run_tool({"stress", "--replay", "nonsense"}), "replay token");
  check_mistake(run_tool({"stress", "--strategy", "luck"}), "luck");
  check_mistake(run_tool({"stress", "--schedules", "0"}), "--schedules");
  check_mistake(run_tool({"stress", "--lanes", "99"}), "--lanes");
  check_mistake(run_tool({"stress", "--exhaustive", "0"}), "--exhaustive");
  check_mistake(run_tool({"stress", "--exhaustive", "1", "--backend", "real"}), "--backend");
}

BOOST_AUTO_TEST_SUITE_END()
