// The README's example is the program that is compiled and run: examples/quickstart.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace {

std::string text_of(const std::string& file) {
  std::ifstream in(std::filesystem::path(POLYCHRON_SOURCE_DIR) / file);
  BOOST_REQUIRE_MESSAGE(in, file << " cannot be read");
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(readme)

BOOST_AUTO_TEST_CASE(its_example_is_the_quickstart) {
  const auto page = text_of("README.md");
  const std::string opening = "```cpp\n";
  const auto begin = page.find(opening);
  BOOST_REQUIRE(begin != std::string::npos);
  const auto code = begin + opening.size();
  const auto end = page.find("```", code);
  BOOST_REQUIRE(end != std::string::npos);
  BOOST_TEST(page.substr(code, end - code) == text_of("examples/quickstart/quickstart.cpp"));
}

BOOST_AUTO_TEST_SUITE_END()
