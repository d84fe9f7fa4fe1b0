// The API reference: every public member has documentation, and every operator's method has the row
// of the operator table. These tests check Doxygen's input; scripts/docs.sh checks the pages.
#include <sys/wait.h>

#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

#include "tests/paths.hpp"
#include "tests/style/text_of.hpp"

using style::text_of;

namespace {

struct Ended {
  int status = 0;
  std::string output;
};

/// Runs a command in the project's root; both of its outputs.
Ended run(const std::string& command) {
  std::FILE* const pipe = popen(
      ("cd '" + polychron::testing::source_directory() + "' && " + command + " 2>&1").c_str(), "r");
  BOOST_REQUIRE(pipe != nullptr);
  Ended ended;
  char part[1 << 16];
  while (const auto bytes = std::fread(part, 1, sizeof part, pipe))
    ended.output.append(part, bytes);
  const int status = pclose(pipe);
  ended.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return ended;
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

constexpr auto filter = "awk -f docs/doxygen/headers.awk include/polychron/";

}  // namespace

BOOST_AUTO_TEST_SUITE(reference)

// Also of references that cannot be resolved, and of pages' links to pages, headers and examples.
BOOST_AUTO_TEST_CASE(doxygen_has_nothing_to_complain_of) {
  if (run("command -v doxygen").status != 0) {
    BOOST_TEST_MESSAGE("skipped: doxygen is not installed");
    return;
  }
  const auto [status, output] = run("sh scripts/docs.sh check");
  BOOST_REQUIRE_MESSAGE(status == 0, output);
  BOOST_TEST(std::regex_search(output, std::regex(R"(docs: (\d{3,}) of \1 public members)")),
             output);
}

// tests/ops compares the page with the table, and the table's rows with the methods.
BOOST_AUTO_TEST_CASE(methods_get_what_the_table_says_of_their_operators) {
  const auto header = run(filter + std::string("graph_builder.hpp"));
  BOOST_REQUIRE_EQUAL(header.status, 0);
  const auto page = text_of("docs/operators.md");
  const std::regex row(R"(\n\| \[(\w+)\]\(([^)|]+)\)[^|]*\|)");
  std::set<std::string> operators;
  for (std::sregex_iterator at(page.begin(), page.end(), row), end; at != end; ++at) {
    const auto name = (*at)[1].str(), address = (*at)[2].str();
    operators.insert(name);
    // The comment, and in the same line or one of the next the call that passes on the name.
    const auto told = address.starts_with("https://www.w3.org/TR/webnn/#")
                          ? "<a href=\"" + address + "\">" + name + "</a>"
                          : "has no such operator";
    const std::regex method(told + "</td></tr></table>[^;]*(one|apply|several)\\(\\s*\"" + name +
                            "\"");
    BOOST_TEST(std::regex_search(header.output, method),
               name << "'s method does not have the row of docs/operators.md");
  }
  BOOST_TEST(operators.size() > 90U);
  const std::regex call(R"re(\b(?:one|apply|several)\(\s*"(\w+)")re");
  std::size_t calls = 0;
  for (std::sregex_iterator at(header.output.begin(), header.output.end(), call), end; at != end;
       ++at, ++calls)
    BOOST_TEST(operators.contains((*at)[1]), (*at)[1] << " has no row in docs/operators.md");
  BOOST_TEST(calls == count_of(header.output, "<table class=\"operator\">"));
}

// Doxygen's complaints name the line in the header.
BOOST_AUTO_TEST_CASE(the_filter_keeps_lines_in_their_places) {
  for (const std::string name : {"graph_builder.hpp", "error.hpp", "onnx.hpp", "session.hpp"}) {
    const auto filtered = run(filter + name);
    BOOST_TEST(filtered.status == 0, filtered.output);
    BOOST_TEST(
        count_of(filtered.output, "\n") == count_of(text_of("include/polychron/" + name), "\n"),
        name);
  }
}

BOOST_AUTO_TEST_SUITE_END()
