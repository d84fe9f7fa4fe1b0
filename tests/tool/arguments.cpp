// The messages of CLI11 and the tool about options, in one wording: which, the given, the expected.
#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "tests/tool/small_files.hpp"

namespace {

using test_tool::check_mistake;
using test_tool::run_tool;
using Strings = std::vector<std::string>;

}  // namespace

BOOST_FIXTURE_TEST_SUITE(arguments, test_tool::SmallFiles)

BOOST_AUTO_TEST_CASE(whole_numbers_have_one_wording) {
  struct Option {
    Strings command;
    std::string name, range;
  };
  const Strings bench{"bench", model, "--bind", "batch=1", "--seconds", "0.01"};
  for (const auto& [command, name, range] :
       {Option{run(), "--threads", "1 to 256"}, Option{run(), "--lanes", "1 to 256"},
        Option{bench, "--clients", "1 to 256"}, Option{{"stress"}, "--jobs", "1 to 256"},
        Option{{"stress"}, "--clients", "1 to 16"}, Option{{"stress"}, "--lanes", "1 to 16"},
        Option{{"stress"}, "--calls", "3 to 1000"}, Option{{"stress"}, "--exhaustive", "1 to 6"}})
    for (const std::string value : {"2x", "1.5", "0", "", "-1", " 2", "+2", "0x10", "010", "1e2",
                                    "99999999999999999999", "one"}) {
      auto words = command;
      words.insert(words.end(), {name, value});
      check_mistake(run_tool(words), "polychron: " + name + ": expected a whole number, " + range +
                                         ", not '" + value + "' (see --help)");
    }
}

BOOST_AUTO_TEST_CASE(words_that_are_not_among_those_expected) {
  check_mistake(run_tool({"stress", "--backend", "gpu"}),
                "polychron: --backend: expected symbolic or real, not 'gpu'");
  check_mistake(run_tool({"stress", "--strategy", ""}), "--strategy: expected mixed, random, ");
  check_mistake(run_tool({"stress", "--faults", "read,gpu"}), "or execution, not 'gpu'");
}

BOOST_AUTO_TEST_CASE(options_without_a_value_and_options_given_twice) {
  for (const Strings& more : {Strings{"--threads"}, {"--lanes"}, {"--input"}, {"--trace"}})
    check_mistake(run_tool(run(more)), "polychron: " + more.front() + ": expected a value");
  check_mistake(run_tool({"bench", model, "--seconds"}), "polychron: --seconds: expected a value");
  check_mistake(run_tool(run({"--threads", "1", "--threads", "2"})),
                "polychron: --threads is given 2 times, expected once");
  check_mistake(run_tool(run({"--output-dir", "a"})),
                "polychron: --output-dir is given 2 times, expected once");
}

BOOST_AUTO_TEST_CASE(flags_take_no_value) {
  check_mistake(run_tool({"--version=3"}), "polychron: --version: expected no value (see --help)");
  check_mistake(run_tool({"--help=3"}), "polychron: --help: expected no value");
  check_mistake(run_tool({"devices", "--json=false"}), "polychron: --json: expected no value");
  check_mistake(run_tool({"trace", "check", "--help=x"}), "polychron: --help: expected no value");
  BOOST_TEST(run_tool({"--version"}).exit_code == 0);
  BOOST_TEST(run_tool({"devices", "--json"}).exit_code == 0);
}

BOOST_AUTO_TEST_CASE(what_nothing_expects_is_named) {
  check_mistake(run_tool(run({"--frob"})), "polychron: '--frob': expected no such argument");
  check_mistake(run_tool(run({"--frob", "3"})), "polychron: '--frob': expected no such argument");
  check_mistake(run_tool(run({""})), "polychron: '': expected no such argument");
  check_mistake(run_tool({"devices", "gpu"}), "polychron: 'gpu': expected no such argument");
}

BOOST_AUTO_TEST_CASE(subcommands_of_subcommands_are_named) {
  const std::string expected =
      "expected a subcommand of trace: summary, view, chrome, replay or check (see --help)";
  check_mistake(run_tool({"trace"}), "polychron: " + expected);
  check_mistake(run_tool({"trace", "frob"}), "polychron: 'frob': " + expected);
  check_mistake(run_tool({"trace", "--frob", "view"}), "polychron: ");
}

// Examples are a command's own, and no text ends in the middle.
BOOST_AUTO_TEST_CASE(every_command_has_its_help) {
  for (const std::string command :
       {"run", "bench", "inspect", "devices", "conformance", "onnx-tests", "stress", "trace"}) {
    const auto help = run_tool({command, "--help"});
    const auto& text = help.output;
    BOOST_TEST(help.exit_code == 0, command);
    BOOST_TEST((text.find("Examples:\n  polychron ") != std::string::npos), command);
    BOOST_TEST((text.find("\n  polychron " + command) != std::string::npos), command);
    BOOST_TEST(std::ranges::count(text, '(') == std::ranges::count(text, ')'), command);
  }
}

BOOST_AUTO_TEST_SUITE_END()
