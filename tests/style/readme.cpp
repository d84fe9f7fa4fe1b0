// The pages' examples are those of programs that are compiled and run, in examples/; and the pages'
// links and the tests that they name are there.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace {

std::string text_of(const std::string& file) {
  std::ifstream in(std::filesystem::path(POLYCHRON_SOURCE_DIR) / file);
  BOOST_REQUIRE_MESSAGE(in, file << " cannot be read");
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> examples_of(const std::string& file) {
  const auto page = text_of(file);
  const std::string opening = "```cpp\n";
  std::vector<std::string> examples;
  for (auto at = page.find(opening); at != std::string::npos; at = page.find(opening, at)) {
    const auto code = at + opening.size();
    const auto end = page.find("```", code);
    BOOST_REQUIRE(end != std::string::npos);
    examples.push_back(page.substr(code, end - code));
    at = end + 3;
  }
  BOOST_REQUIRE(!examples.empty());
  return examples;
}

std::string without_indentation(const std::string& text) {
  return std::regex_replace(text, std::regex("\n +"), "\n");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(readme)

BOOST_AUTO_TEST_CASE(its_example_is_the_quickstart) {
  BOOST_TEST(examples_of("README.md").front() == text_of("examples/quickstart/quickstart.cpp"));
}

BOOST_AUTO_TEST_CASE(the_example_of_a_scenario_is_of_a_program) {
  const auto program = text_of("examples/stress/early_announcement.cpp");
  const auto example = examples_of("docs/stress.md").front();
  BOOST_TEST(program.find(example) != std::string::npos, "another program has:\n" << example);
}

// Examples of another library name its namespace; all others are of the program, however they stand
// there.
BOOST_AUTO_TEST_CASE(the_examples_for_users_of_onnx_runtime_are_of_a_program) {
  const auto program = without_indentation(text_of("examples/session/session.cpp"));
  auto examples = examples_of("docs/coming-from-onnxruntime.md");
  std::erase_if(examples, [](const auto& code) { return code.find("Ort::") != std::string::npos; });
  BOOST_TEST(examples.size() > 6U);
  examples.push_back(examples_of("README.md").at(1));
  for (const auto& code : examples)
    BOOST_TEST(program.find(without_indentation(code)) != std::string::npos,
               "another program has:\n"
                   << code);
}

BOOST_AUTO_TEST_CASE(links_lead_somewhere) {
  const std::filesystem::path root = POLYCHRON_SOURCE_DIR;
  std::vector<std::filesystem::path> pages{"README.md"};
  for (const auto& entry : std::filesystem::directory_iterator(root / "docs"))
    if (entry.path().extension() == ".md")
      pages.push_back(std::filesystem::relative(entry.path(), root));
  const std::regex link(R"(\]\(([^)#:]+)\))");  // not those with a scheme: they leave the project
  std::size_t links = 0;
  for (const auto& page : pages) {
    // Lambdas look like links.
    const auto text = std::regex_replace(text_of(page.string()), std::regex("```[^`]*```"), "");
    for (std::sregex_iterator match(text.begin(), text.end(), link), end; match != end; ++match) {
      const auto target = (root / page).parent_path() / (*match)[1].str();
      BOOST_TEST(std::filesystem::exists(target),
                 page << " links to " << (*match)[1] << ", which does not exist");
      ++links;
    }
  }
  BOOST_TEST(links > 10U);
}

// docs/conformance.md names a test for each rule: `suite/case`.
BOOST_AUTO_TEST_CASE(tests_that_pages_name_exist) {
  const std::filesystem::path tests = std::filesystem::path(POLYCHRON_SOURCE_DIR) / "tests";
  std::set<std::string> cases;
  const std::regex suite(R"(TEST_SUITE\((\w+)[,)])"), test(R"(AUTO_TEST_CASE\((\w+)[,)])");
  for (const auto& entry : std::filesystem::recursive_directory_iterator(tests)) {
    if (entry.path().extension() != ".cpp") continue;
    const auto text = text_of(std::filesystem::relative(entry.path(), POLYCHRON_SOURCE_DIR));
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
