// polychron trace, and --trace of the commands that run models.
#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "tests/tool/small_files.hpp"

namespace {

using test_tool::check_mistake;
using test_tool::run_program;
using test_tool::run_tool;
using Strings = std::vector<std::string>;

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(trace_command, test_tool::SmallFiles)

BOOST_AUTO_TEST_CASE(a_run_is_recorded_and_told) {
  const auto recording = directory / "run.trace";
  BOOST_TEST(run_tool(run({"--trace", recording})).exit_code == 0);
  const auto summary = run_tool({"trace", "summary", recording});
  BOOST_TEST(summary.exit_code == 0);
  for (const auto* part :
       {"What the lanes did", "compute", "Steps of plans", "No operation failed"})
    BOOST_TEST(has(summary.output, part), part << " is missing in\n" << summary.output);
  const auto check = run_tool({"trace", "check", recording});
  BOOST_TEST(check.exit_code == 0);
  BOOST_TEST(has(check.output, " facts checked, 0 broken\n"), check.output);
  const auto chrome = run_tool({"trace", "chrome", recording});
  BOOST_TEST(nlohmann::json::parse(chrome.output)["traceEvents"].size() > 20U);
  const auto page = directory / "run.html";
  BOOST_TEST(run_tool({"trace", "view", recording, "-o", page}).exit_code == 0);
  const auto html = test_tool::read_text(page);
  BOOST_TEST(has(html, "<html"));
  BOOST_TEST(!has(html, "@TRACE@"));
  // From standard input, too.
  BOOST_TEST(run_tool({"trace", "summary", "-"}, {}, recording).output == summary.output);
}

BOOST_AUTO_TEST_CASE(two_recordings_are_viewed_beside_each_other) {
  const auto a = directory / "a.trace", b = directory / "b.trace", page = directory / "both.html";
  BOOST_TEST(run_tool(run({"--trace", a})).exit_code == 0);
  BOOST_TEST(run_tool(run({"--trace", b})).exit_code == 0);
  const auto alone = run_tool({"trace", "view", a});
  BOOST_TEST(alone.exit_code == 0);
  BOOST_TEST(run_tool({"trace", "view", a, "--with", b, "-o", page}).exit_code == 0);
  BOOST_TEST(std::filesystem::file_size(page) > alone.output.size());
  check_mistake(run_tool({"trace", "view", a, "--with", directory / "none.trace"}), "none.trace");
  check_mistake(run_tool({"trace", "view", a, "--with", model}), "no recording of Polychron's");
  check_mistake(run_tool({"trace", "summary", a, "--with", b}), "--with");
}

BOOST_AUTO_TEST_CASE(a_run_is_run_again) {
  const auto recording = directory / "run.trace", again = directory / "again.trace";
  BOOST_TEST(run_tool(run({"--trace", recording})).exit_code == 0);
  const auto replayed = run_tool({"trace", "replay", recording, "-o", again});
  BOOST_TEST(replayed.exit_code == 0, replayed.output << replayed.errors);
  BOOST_TEST(has(replayed.output, "1 context made again"), replayed.output);
  BOOST_TEST(has(replayed.output, "0 differences"), replayed.output);
  // The written file is a recording as well, and can be run again itself.
  BOOST_TEST(run_tool({"trace", "check", again}).exit_code == 0);
  BOOST_TEST(run_tool({"trace", "replay", again}).exit_code == 0);
  const auto varied = run_tool({"trace", "replay", recording, "--schedules", "8", "--seed", "3"});
  BOOST_TEST(varied.exit_code == 0, varied.output << varied.errors);
  BOOST_TEST(has(varied.output, "8 schedules tried, from seed 3: nothing found"), varied.output);
  check_mistake(run_tool({"trace", "replay", model}), "no recording of Polychron's");
  check_mistake(run_tool({"trace", "replay", recording, "--schedules", "-1"}), "--schedules");
  check_mistake(run_tool({"trace", "replay", recording, "-o", directory / "none/a.trace"}), "none");
}

BOOST_AUTO_TEST_CASE(the_environment_has_any_program_recorded) {
  const auto recording = directory / "quickstart.trace";
  BOOST_TEST(run_program("polychron_quickstart", {}, {"POLYCHRON_TRACE=" + recording}).exit_code ==
             0);
  const auto summary = run_tool({"trace", "summary", recording});
  BOOST_TEST(has(summary.output, "dispatch of graph 'times three'"), summary.output);
  // A recording that cannot be written is no reason to fail.
  const auto nowhere = run_program("polychron_quickstart", {},
                                   {"POLYCHRON_TRACE=" + directory / "none/quickstart.trace"});
  BOOST_TEST(nowhere.exit_code == 0);
  BOOST_TEST(nowhere.errors == "");
}

BOOST_AUTO_TEST_CASE(what_fails_is_recorded) {
  const auto recording = directory / "failed.trace";
  const auto failed = run_tool(run({"--trace", recording, "--bind", "batch=3"}));
  BOOST_TEST(failed.exit_code == 2);
  BOOST_TEST(run_tool({"trace", "check", recording}).exit_code == 0);
}

BOOST_AUTO_TEST_CASE(mistakes) {
  check_mistake(run_tool({"trace", "summary", directory / "none.trace"}), "there is no such file");
  check_mistake(run_tool({"trace", "summary", model}), "no recording of Polychron's");
  check_mistake(run_tool({"trace", "summary", "/dev/zero"}), "it is not a regular file");
  check_mistake(run_tool({"trace"}), "subcommand");
  check_mistake(run_tool({"trace", "view"}), "RECORDING");
  check_mistake(run_tool(run({"--trace", directory / "none/run.trace"})), "none");
  BOOST_TEST(!std::filesystem::exists(outputs));
}

BOOST_AUTO_TEST_SUITE_END()
