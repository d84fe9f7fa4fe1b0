// docs/protocol.md lists every message of the protocols, and every call, operation and outcome of
// messages/, each in its section, and no other.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>

#include "tests/style/text_of.hpp"

using style::root;

namespace {

namespace fs = std::filesystem;

using Names = std::map<std::string, std::set<std::string>>;  ///< by protocol, or kind of value

/// The lists of the headers: `using x_actor = Protocol<...>` and `using X = std::variant<...>` of
/// what this page is about.
Names lists_in_code() {
  const std::regex list(
      R"(using\s+(?:(\w+)_actor\s*=\s*msg::Protocol|(Call|Operation|Outcome)\s*=\s*std::variant))"
      R"(<([^<>]*)>\s*;)");
  const std::regex name(R"((?:\w+::)?(\w+))");
  Names names;
  for (const auto& entry : fs::directory_iterator(root / "messages")) {
    if (entry.path().extension() != ".hpp") continue;
    std::ifstream in(entry.path());
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    for (std::sregex_iterator found(text.begin(), text.end(), list), end; found != end; ++found) {
      const auto section = (*found)[1].matched ? (*found)[1].str() : (*found)[2].str();
      BOOST_TEST(!names.contains(section), section << " is listed twice");
      const auto members = (*found)[3].str();
      for (std::sregex_iterator member(members.begin(), members.end(), name); member != end;
           ++member)
        names[section].insert((*member)[1]);
    }
  }
  return names;
}

/// The first column of the page's tables, each row's by the heading before it.
Names tables_in_page() {
  const std::regex heading(R"(^## (\w+)$)"), entry(R"(^\| `(\w+)` \|)");
  std::ifstream in(root / "docs/protocol.md");
  BOOST_REQUIRE_MESSAGE(in, "docs/protocol.md cannot be read");
  Names names;
  std::string section;
  std::smatch match;
  for (std::string line; std::getline(in, line);) {
    if (std::regex_search(line, match, heading)) section = match[1];
    if (!std::regex_search(line, match, entry)) continue;
    BOOST_TEST(names[section].insert(match[1]).second,
               "docs/protocol.md lists " << match[1] << " twice");
  }
  return names;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(protocol_page)

BOOST_AUTO_TEST_CASE(the_page_and_the_headers_list_the_same) {
  const auto in_code = lists_in_code();
  const auto in_page = tables_in_page();
  for (const char* section :
       {"context", "compiler", "tensor", "graph", "device", "Call", "Operation", "Outcome"})
    BOOST_TEST(in_code.contains(section), "no list of " << section << " is found in messages/");
  const auto check = [](const Names& some, const Names& others, const std::string& missing) {
    for (const auto& [section, names] : some) {
      const auto other = others.find(section);
      for (const auto& name : names)
        BOOST_TEST((other != others.end() && other->second.contains(name)),
                   section << ": " << name << " " << missing);
    }
  };
  check(in_code, in_page, "is not in docs/protocol.md");
  check(in_page, in_code, "is in docs/protocol.md, but not in messages/");
}

BOOST_AUTO_TEST_SUITE_END()
