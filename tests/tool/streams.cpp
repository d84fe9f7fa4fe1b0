// Standard input and output: full, closed, and asked for twice.
#include <boost/test/unit_test.hpp>

#include "tests/tool/small_files.hpp"

namespace {

using test_tool::check_mistake;
using test_tool::run_ocr;
using test_tool::run_tool;
using Strings = std::vector<std::string>;

}  // namespace

BOOST_FIXTURE_TEST_SUITE(streams, test_tool::SmallFiles)

BOOST_AUTO_TEST_CASE(output_that_cannot_be_written_is_a_failure) {
  test_tool::write_text(directory / "no.json", "{}");
  for (const auto& stdout_file : {"/dev/full", ""})  // full, closed
    for (const Strings& arguments : {Strings{"--version"},
                                     {"--help"},
                                     {"run", "--help"},
                                     {"devices"},
                                     {"devices", "--json"},
                                     {"inspect", model},
                                     {"inspect", model, "--json"},
                                     {"bench", model, "--bind", "batch=1", "--seconds", "0.01"},
                                     {"stress", "--schedules", "10"},
                                     run_with(model, array, outputs),
                                     run_with(model, array, "-")})
      BOOST_TEST_CONTEXT(arguments.front() << " to '" << stdout_file << "'")
  check_mistake(run_tool(arguments, {}, "/dev/null", stdout_file), "standard output: cannot write");
  // A command that failed for another reason reports both.
  const auto suite = run_tool({"conformance", directory / ""}, {}, "/dev/null", "/dev/full");
  BOOST_TEST(suite.exit_code == 1);
  BOOST_TEST(suite.errors == "polychron: standard output: cannot write\n");
}

// The first file that is opened would be where messages go.
BOOST_AUTO_TEST_CASE(closed_streams_are_nobody_elses_files) {
  const auto closed = run_tool(run_with(model, "-", outputs), {}, "", std::nullopt);
  check_mistake(closed, "standard input: it cannot be read");
  BOOST_TEST(!std::filesystem::exists(outputs));
}

BOOST_AUTO_TEST_CASE(standard_input_is_for_one) {
  const auto is_told = [](const Strings& arguments, const std::string& who) {
    check_mistake(run_tool(arguments, {}, "/dev/zero"),
                  who + " cannot both be from standard input ('-')");
  };
  is_told(run_with("-", "-", outputs), "MODEL and --input x");
  is_told({"run", model, "--input", "x=-", "--constant", "y=-", "--output-dir", outputs},
          "--input x and --constant y");
  is_told({"inspect", "-", "--constant", "x=-"}, "MODEL and --constant x");
  check_mistake(run_ocr({"-", array, "-"}, {}, "/dev/zero"),
                "PICTURE 1 and PICTURE 3 cannot both be from standard input ('-')");
  is_told({"trace", "view", "-", "--with", "-"}, "RECORDING and --with");
  check_mistake(run_tool({"trace", "summary", "-"}), "recording 'standard input': ");
}

BOOST_AUTO_TEST_SUITE_END()
