// The operator table against facts.txt, which was written from the specification apart from it.
// Compares each operator's operands with their data types and ranks, its attributes and their
// defaults. The suites table and idl compare with the specification's own files, where they are.
#include <boost/test/unit_test.hpp>
#include <fstream>
#include <map>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "ops/table.hpp"
#include "tests/ops/attribute_text.hpp"
#include "tests/paths.hpp"

using namespace polychron;
using namespace polychron::test;

BOOST_AUTO_TEST_SUITE(facts)

namespace {

const std::map<std::string, std::string> type_names{
    {"floats", "float32|float16"},
    {"signed", "float32|float16|int32|int64|int8"},
    {"wide", "float32|float16|int32|uint32|int64|uint64"},
    {"index", "int32|uint32|int64"},
    {"quantized", "int32|uint32|int8|uint8"},
    {"any", "float32|float16|int32|uint32|int64|uint64|int8|uint8"}};

/// `text` taken apart at each `mark`, without spaces at the ends.
std::vector<std::string> parts(const std::string& text, char mark) {
  std::vector<std::string> list;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream >> std::ws, part, mark);) {
    part.erase(part.find_last_not_of(' ') + 1);
    list.push_back(part);
  }
  return list;
}

/// "bias: float32, float16; rank 1 to 1".
std::string operand_text(const std::string& fact) {
  const auto words = parts(fact, ' ');
  ops::TypeSet types;
  const auto group = type_names.find(words.at(1));
  for (const auto& name : parts(group == type_names.end() ? words[1] : group->second, '|'))
    types = types | ops::TypeSet{data_type_from_string(name).value()};
  unsigned low = 0, high = max_rank;
  if (words.size() > 2) {
    low = static_cast<unsigned>(std::stoul(words[2]));
    high = words[2].back() == '+' ? max_rank : static_cast<unsigned>(words[2].back() - '0');
  }
  return words[0] + ": " + types.text() + "; rank " + std::to_string(low) + " to " +
         std::to_string(high);
}

std::string operand_text(const ops::OperandRule& rule) {
  // Packed types are beyond the specification, for what quantized models need them for.
  return std::string(rule.name) + ": " + rule.types.without(ops::type_sets::packed).text() +
         "; rank " + std::to_string(rule.rank_min) + " to " + std::to_string(rule.rank_max);
}

struct Facts {
  std::string operands, results;  ///< a line each
  Defaults attributes;
};

std::string operands_of(const std::string& facts) {
  std::string text;
  for (const auto& fact : parts(facts, ',')) text += operand_text(fact) + '\n';
  return text;
}

std::string operands_of(std::span<const ops::OperandRule> rules) {
  std::string text;
  for (const auto& rule : rules) text += operand_text(rule) + '\n';
  return text;
}

/// All operators' facts, by name.
std::map<std::string, Facts> read_facts() {
  std::map<std::string, Facts> all;
  std::ifstream file(polychron::testing::source_directory() + "/tests/ops/facts.txt");
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const auto colon = line.find(':'), arrow = line.find("->"), end = line.find(';');
    Facts facts;
    facts.operands = operands_of(line.substr(colon + 1, arrow - colon - 1));
    facts.results = operands_of(line.substr(arrow + 2, end - arrow - 2));
    if (end != std::string::npos)
      for (const auto& attribute : parts(line.substr(end + 1), ',')) {
        const auto sides = parts(attribute, '=');
        if (attribute.back() == '!')
          facts.attributes[attribute.substr(0, attribute.size() - 1)] = "required";
        else
          facts.attributes[sides[0]] = sides.size() > 1 ? sides[1] : "";
      }
    for (const auto& name : parts(line.substr(0, colon), ' ')) {
      BOOST_TEST(all.emplace(name, facts).second, name << " is there twice");
    }
  }
  return all;
}

}  // namespace

BOOST_AUTO_TEST_CASE(rows_have_the_specifications_operands_and_attributes) {
  const auto all = read_facts();
  std::size_t standard = 0;
  for (const auto& row : ops::rows()) {
    if (row.is_extension()) continue;
    ++standard;
    const auto found = all.find(std::string(row.name));
    BOOST_REQUIRE_MESSAGE(found != all.end(), "facts.txt does not have " << row.name);
    const Facts& facts = found->second;
    BOOST_TEST(operands_of(row.operands()) == facts.operands, row.name);
    BOOST_TEST(operands_of(row.results()) == facts.results, row.name);
    BOOST_TEST(show(attributes_of(row)) == show(facts.attributes), row.name);
  }
  BOOST_TEST(all.size() == standard);
}

BOOST_AUTO_TEST_SUITE_END()
