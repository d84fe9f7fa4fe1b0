// The pages' examples are parts of programs in examples/, which are compiled and run. The pages'
// links and the tests that they name exist.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/paths.hpp"
#include "tests/style/text_of.hpp"

using style::root;
using style::text_of;

namespace {

/// The pages of the project: those beside the README, and those in docs/.
std::vector<std::string> pages() {
  std::vector<std::string> list;
  for (const auto& folder : {root, root / "docs"})
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      if (entry.path().extension() == ".md")
        list.push_back(std::filesystem::relative(entry.path(), root).string());
  return list;
}

std::vector<std::string> examples_of(const std::string& page) {
  const auto text = text_of(page);
  const std::string opening = "```cpp\n";
  std::vector<std::string> examples;
  for (std::size_t begin = 0; (begin = text.find(opening, begin)) != std::string::npos;) {
    begin += opening.size();
    const auto end = text.find("```", begin);
    BOOST_REQUIRE(end != std::string::npos);
    examples.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return examples;
}

/// The anchors of a page's headings, in the usual form of repositories: lower case, letters, digits
/// and hyphens only, a hyphen for a space.
std::set<std::string> anchors_of(const std::string& page) {
  std::set<std::string> anchors;
  std::istringstream lines(text_of(page));
  const std::regex target(R"(\]\([^)]*\))");  // of links in a heading the text counts
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with('#')) continue;
    std::string anchor;
    for (const char c : std::regex_replace(line.substr(line.find(' ') + 1), target, "")) {
      const auto byte = static_cast<unsigned char>(c);
      if (std::isalnum(byte) || c == '-' || c == '_')
        anchor += static_cast<char>(std::tolower(byte));
      if (c == ' ') anchor += '-';
    }
    anchors.insert(anchor);
  }
  return anchors;
}

std::string without_indentation(const std::string& text) {
  return std::regex_replace("\n" + text, std::regex("\n +"), "\n").substr(1);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(readme)

BOOST_AUTO_TEST_CASE(its_example_is_the_quickstart) {
  BOOST_TEST(examples_of("README.md").front() == text_of("examples/quickstart/quickstart.cpp"));
}

BOOST_AUTO_TEST_CASE(examples_of_pages_are_parts_of_programs) {
  std::vector<std::string> programs;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root / "examples"))
    if (entry.path().extension() == ".cpp")
      programs.push_back(
          without_indentation(text_of(std::filesystem::relative(entry.path(), root).string())));
  std::size_t count = 0;
  for (const auto& page : pages())
    for (const auto& shown : examples_of(page)) {
      if (shown.find("Ort::") != std::string::npos) continue;  // of another library
      const auto example = without_indentation(shown);
      const bool found = std::ranges::any_of(programs, [&](const std::string& program) {
        return program.find(example) != std::string::npos;
      });
      BOOST_TEST(found, page << ": no program of examples/ has:\n" << example);
      ++count;
    }
  BOOST_TEST(count > 12U);
}

BOOST_AUTO_TEST_CASE(links_lead_somewhere) {
  const std::regex link(
      R"(\]\(([^)#:]*)(#[^)]*)?\))");  // not those with a scheme: they leave the project
  const std::regex code("```[^`]*```|`[^`]*`");
  std::size_t links = 0;
  for (const auto& page : pages()) {
    const auto text = std::regex_replace(text_of(page), code, "");
    for (std::sregex_iterator match(text.begin(), text.end(), link), end; match != end; ++match) {
      const auto file = (*match)[1].str(), anchor = (*match)[2].str();
      const auto target =
          file.empty() ? root / page : (root / page).parent_path() / std::filesystem::path(file);
      BOOST_TEST(std::filesystem::exists(target),
                 page << " links to " << file << ", which does not exist");
      if (!anchor.empty() && target.extension() == ".md")
        BOOST_TEST(
            anchors_of(std::filesystem::relative(target, root).string()).contains(anchor.substr(1)),
            page << " links to " << file << anchor << ", which has no such heading");
      ++links;
    }
  }
  BOOST_TEST(links > 10U);
}

// docs/conformance.md names a test for each rule: `suite/case`.
BOOST_AUTO_TEST_CASE(tests_that_pages_name_exist) {
  const std::filesystem::path tests =
      std::filesystem::path(polychron::testing::source_directory()) / "tests";
  std::set<std::string> cases;
  const std::regex suite(R"(TEST_SUITE\((\w+)[,)])"), test(R"(AUTO_TEST_CASE\((\w+)[,)])");
  for (const auto& entry : std::filesystem::recursive_directory_iterator(tests)) {
    if (entry.path().extension() != ".cpp") continue;
    const auto text =
        text_of(std::filesystem::relative(entry.path(), polychron::testing::source_directory()));
    std::smatch name;
    if (!std::regex_search(text, name, suite)) continue;
    for (std::sregex_iterator match(text.begin(), text.end(), test), end; match != end; ++match)
      cases.insert(name[1].str() + "/" + (*match)[1].str());
  }
  const auto page = text_of("docs/conformance.md");
  const std::regex named(R"(`(\w+/\w+)`)");
  std::size_t count = 0;
  for (std::sregex_iterator match(page.begin(), page.end(), named), end; match != end; ++match) {
    BOOST_TEST(cases.contains((*match)[1]), "there is no test " << (*match)[1]);
    ++count;
  }
  BOOST_TEST(count > 50U);
}

BOOST_AUTO_TEST_SUITE_END()
