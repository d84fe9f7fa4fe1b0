// polychron conformance, as a user types it: cases that pass, fail and are skipped, and files of
// other kinds.
#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "tests/tool/command.hpp"

namespace {

using nlohmann::json;
using test_tool::check_mistake;
using test_tool::has;
using test_tool::run_tool;

/// y = relu(x), for x of -1 and 2.
json relu_case(const std::string& name, const json& expected) {
  return {{"name", name},
          {"inputs", {{"x", {{"dataType", "float32"}, {"shape", {2}}, {"data", {-1, 2}}}}}},
          {"operators",
           json::array({{{"name", "relu"}, {"arguments", {{{"input", "x"}}}}, {"outputs", "y"}}})},
          {"outputs", {{"y", {{"dataType", "float32"}, {"shape", {2}}, {"data", expected}}}}},
          {"tolerance", {{"metric", "ULP"}, {"value", 0}}}};
}

struct Cases {
  void write(const std::string& file, const json& content) {
    test_tool::write_text(directory / file, content.dump());
  }
  test_tool::Outcome run(std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"conformance", directory / ""});
    return run_tool(more);
  }
  test_tool::TemporaryDirectory directory;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(conformance_command, Cases)

BOOST_AUTO_TEST_CASE(cases_that_pass) {
  write("relu.json", json::array({relu_case("a", {0, 2}), relu_case("b", {0, 2})}));
  const auto outcome = run();
  BOOST_TEST(outcome.exit_code == 0);
  BOOST_TEST(outcome.errors == "");
  BOOST_TEST(outcome.output ==
             "operator   passed   failed  skipped\n"
             "relu            2        0        0\n"
             "2 passed, 0 failed, 0 skipped\n");
  has(run({"--filter", "relu"}), "2 passed, 0 failed, 0 skipped");
  check_mistake(run({"--filter", "tanh"}), "--filter tanh: no case has this operator");
  const auto progress = run({"--progress"});
  BOOST_TEST((progress.errors.find("running relu.json 1/1") != std::string::npos), progress.errors);
}

BOOST_AUTO_TEST_CASE(failures_are_told_with_their_worst_element) {
  write("relu.json", json::array({relu_case("right", {0, 2}), relu_case("wrong", {0.5, 2})}));
  const auto outcome = run();
  BOOST_TEST(outcome.exit_code == 1);
  has(outcome,
      "failed: relu.json \"wrong\": output \"y\": element 0 is 0, expected 0.5, "
      "off by 1.05696e+09 ULP, allowed 0\n");
  has(outcome, "1 passed, 1 failed, 0 skipped\n");

  const auto as_json = run({"--json"});
  BOOST_TEST(as_json.exit_code == 1);
  const auto report = json::parse(as_json.output);
  BOOST_TEST(report["passed"] == 1);
  BOOST_TEST(report["operators"]["relu"]["failed"] == 1);
  const auto& worst = report["cases"][1]["worst"];
  BOOST_TEST(report["cases"][1]["result"] == "failed");
  BOOST_TEST(worst["element"] == 0);
  BOOST_TEST(worst["metric"] == "ULP");
}

BOOST_AUTO_TEST_CASE(zeros_have_signs_on_request) {
  auto test = relu_case("zero", {"-0", 2});
  test["inputs"]["x"]["data"] = {0, 2};
  write("relu.json", json::array({test}));
  BOOST_TEST(run().exit_code == 0);
  const auto outcome = run({"--signed-zeros"});
  BOOST_TEST(outcome.exit_code == 1);
  has(outcome, "element 0 is 0, expected \"-0\", off by inf ULP, allowed 0\n");
  has(run_tool({"conformance", "--help"}), "--signed-zeros");
}

// Each has a line of its own, with file and case, and the case after it is run.
BOOST_AUTO_TEST_CASE(what_is_malformed_fails_alone) {
  const auto with = [](const char* pointer, const json& value) {
    auto test = relu_case("odd", {0, 2});
    test[json::json_pointer(pointer)] = value;
    return test;
  };
  auto without = relu_case("odd", {0, 2});
  without.erase("tolerance");
  const auto deep = std::string(100000, '[') + std::string(100000, ']');
  const std::vector<std::pair<json, std::string>> problems{
      {5, "expected an object"},
      {json::object(), "'inputs' is missing"},
      {without, "'tolerance' is missing"},
      {with("/inputs", 1), "'inputs' is no object"},
      {with("/inputs/x/shape", {3}), "'data' has 2 numbers where shape [3] takes 3"},
      {with("/inputs/x/shape", {65536, 65536, 65536}), "is more than 256 MiB"},
      {with("/inputs/x/data/0", "minus one"), "found \"minus one\""},
      {with("/inputs/x/dataType", "float64"), "there is no data type"},
      {with("/operators/0/name", 7), "expected a string, found 7"},
      {with("/operators/0/arguments/0/input", "z"), "there is no operand \"z\""},
      {with("/operators/0/arguments/0/alpha", 1), "parameter \"alpha\": there is no such"},
      {with("/operators/0/arguments", 1), "'arguments' is no list"},
      {with("/operators/0/outputs", {"y", "z"}), "'outputs' has 2 names for 1 results"},
      {with("/outputs/y/shape", {1, 2}), "output \"y\" is float32 [2], expected float32 [1, 2]"},
      {with("/outputs/y/data", {1, 2, 3}), "'data' has 3 numbers"},
      {with("/outputs", json::object()), "'outputs' names no output"},
      {with("/tolerance/metric", "percent"), "expected metric ULP or ATOL"},
      {with("/inputs/x/dataType", "uint8"), "relu"},
  };
  for (const auto& [test, words] : problems) {
    write("relu.json", json::array({test, relu_case("after", {0, 2})}));
    const auto outcome = run();
    BOOST_TEST(outcome.exit_code == 1);
    has(outcome, "failed: relu.json \"");
    has(outcome, words);
    has(outcome, "1 passed, 1 failed, 0 skipped\n");
    BOOST_TEST(std::count(outcome.output.begin(), outcome.output.end(), '\n') <= 5, outcome.output);
  }
  write("relu.json", json::array({relu_case("fine", {0, 2})}));
  const std::vector<std::pair<std::string, std::string>> files{
      {"[{\"name\": ", "parse error"}, {"", "parse error"}, {"{}", "a list of cases"},
      {"[1e999]", "number overflow"},  {deep, "too deep"},  {"[\"\xff\"]", "UTF-8"}};
  for (const auto& [text, words] : files) {
    test_tool::write_text(directory / "broken.json", text);
    const auto outcome = run();
    BOOST_TEST(outcome.exit_code == 1);
    has(outcome, "failed: broken.json: ");
    has(outcome, words);
    has(outcome, "1 passed, 1 failed, 0 skipped\n");
  }
}

BOOST_AUTO_TEST_CASE(operators_that_are_not_known_are_skipped) {
  auto test = relu_case("odd", {0, 2});
  test["operators"][0]["name"] = "frobnicate";
  write("frobnicate.json", json::array({test}));
  const auto outcome = run();
  BOOST_TEST(outcome.exit_code == 0);
  has(outcome, "skipped     1  frobnicate is not in the operator table\n");
  has(outcome, "0 passed, 0 failed, 1 skipped\n");
}

BOOST_AUTO_TEST_CASE(directories_that_are_none) {
  check_mistake(run_tool({"conformance", directory / "none"}), "expected a directory");
  check_mistake(run(), "has no .json files");
  write("empty.json", json::array());
  check_mistake(run(), "has no cases");
  check_mistake(run_tool({"conformance"}), "DIR");
}

BOOST_AUTO_TEST_SUITE_END()
