// The rows' attributes against the specification's IDL: names, required ones, and defaults.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>

#include "ops/table.hpp"
#include "tests/ops/attribute_text.hpp"
#include "tests/paths.hpp"

using namespace polychron;
using namespace polychron::test;

BOOST_AUTO_TEST_SUITE(idl)

namespace {

/// The specification's IDL, without comments and extended attributes.
std::string read_idl(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return std::regex_replace(text.str(), std::regex(R"(//[^\n]*|\[EnforceRange\])"), "");
}

/// `text` taken apart at each `mark` that no bracket encloses, spaces at the ends left out.
std::vector<std::string> parts(const std::string& text, char mark) {
  std::vector<std::string> list(1);
  int depth = 0;
  for (const char c : text) {
    if (c == '<' || c == '(' || c == '{') ++depth;
    if (c == '>' || c == ')' || c == '}') --depth;
    if (c == mark && depth == 0)
      list.emplace_back();
    else if (list.back().empty() && std::isspace(static_cast<unsigned char>(c)))
      continue;
    else
      list.back() += c;
  }
  for (std::string& part : list) part.erase(part.find_last_not_of(" \n") + 1);
  return list;
}

bool is_operand(const std::string& declaration) {
  return declaration.starts_with("MLOperand ") || declaration.starts_with("sequence<MLOperand>");
}

std::string last_word(const std::string& text) { return text.substr(text.find_last_of(" \n") + 1); }

/// The members of dictionary `name`, without operands.
Defaults members(const std::string& idl, const std::string& name) {
  Defaults members;
  const auto start = idl.find("dictionary " + name + " ");
  if (start == std::string::npos || name == "MLOperatorOptions") return members;
  const auto open = idl.find('{', start);
  for (const auto& member : parts(idl.substr(open + 1, idl.find('}', open) - open - 1), ';')) {
    if (member.empty() || is_operand(member)) continue;
    const auto sides = parts(member, '=');
    std::string& value = members[last_word(sides[0])];
    if (sides.size() > 1) value = sides[1];
    std::erase(value, '"');
  }
  return members;
}

/// The arguments of that method, without operands.
Defaults arguments(const std::string& idl, const std::string& name) {
  std::smatch method;
  BOOST_REQUIRE_MESSAGE(
      std::regex_search(idl, method, std::regex("MLOperand>?\\s+" + name + "\\(([^;]*)\\);")),
      "the IDL has no method " << name);
  Defaults all;
  for (const auto& argument : parts(method[1], ',')) {
    if (is_operand(argument)) continue;
    if (!argument.starts_with("optional ")) {
      all[last_word(argument)] = "required";
      continue;
    }
    const auto type = argument.substr(9, argument.find(' ', 9) - 9);
    all.merge(members(idl, type));
  }
  return all;
}

}  // namespace

BOOST_AUTO_TEST_CASE(attributes_have_the_specifications_names_and_defaults) {
  const std::filesystem::path path =
      polychron::testing::source_directory() + "/../shared/spec/webnn.idl";
  if (!std::filesystem::exists(path)) {
    BOOST_TEST_MESSAGE(
        "skipped: ../shared is absent: the attributes' names, defaults and which are required, "
        "with "
        "the specification's IDL (the suite facts has them, too)");
    return;
  }
  const auto text = read_idl(path);
  std::size_t attributes = 0;
  for (const auto& row : ops::rows()) {
    if (row.is_extension()) continue;
    const auto ours = attributes_of(row);
    BOOST_TEST(show(ours) == show(arguments(text, std::string(row.name))), row.name);
    attributes += ours.size();
  }
  BOOST_TEST(attributes > 80U);
}

BOOST_AUTO_TEST_SUITE_END()
