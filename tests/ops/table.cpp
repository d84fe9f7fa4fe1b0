// The table as a whole: against the specification's facts, and the page that is made from it.
#include "ops/table.hpp"

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "ops/document.hpp"
#include "ops/limits.hpp"
#include "tests/paths.hpp"

using namespace polychron;
using nlohmann::json;

BOOST_AUTO_TEST_SUITE(table)

namespace {

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The specification's name of an operand as tensor-limits.json has it.
std::string spelled(const ops::OperandRule& rule, const json& operands) {
  const std::string name(rule.name);
  if (operands.contains(name)) return name;
  if (!name.starts_with("output")) return name + "'s items";
  const std::string number = "outputs[" + name.substr(6) + "]";
  return operands.contains(number) ? number : number + " if returnSequence is true";
}

/// "float32, float16", "any", "same as x's items" as a set of types.
ops::TypeSet types_of(const std::string& text, const json& operands) {
  if (text == "any") return ops::type_sets::any;
  if (text.starts_with("same as "))
    return types_of(operands.at(text.substr(8)).at("allowedDataTypes"), operands);
  ops::TypeSet types;
  std::stringstream names(text);
  for (std::string name; std::getline(names >> std::ws, name, ',');)
    types = types | ops::TypeSet{data_type_from_string(name).value()};
  return types;
}

std::pair<unsigned, unsigned> ranks_of(const std::string& text, const json& operands) {
  if (text.starts_with("same as "))
    return ranks_of(operands.at(text.substr(8)).at("allowedRanks"), operands);
  if (text == "N") return {0, max_rank};
  const auto low = static_cast<unsigned>(std::stoul(text));
  const auto to = text.find(" to ");
  if (to == std::string::npos) return {low, low};
  const auto high = text.substr(to + 4);
  return {low, high == "N" ? max_rank : static_cast<unsigned>(std::stoul(high))};
}

}  // namespace

BOOST_AUTO_TEST_CASE(names_are_unique_and_found) {
  std::set<std::string_view> names;
  for (const auto& row : ops::rows()) {
    BOOST_TEST(names.insert(row.name).second, row.name);
    BOOST_TEST(ops::find(row.name) == &row);
    BOOST_TEST(&ops::row(ops::id(row)) == &row);
    BOOST_TEST((row.shape != nullptr));
  }
  BOOST_TEST(ops::find("conv3d") == nullptr);
  BOOST_TEST(ops::row(ops::op("conv2d")).name == "conv2d");
}

// docs/operators.md and the reference of GraphBuilder's methods are made of these.
BOOST_AUTO_TEST_CASE(rows_say_what_they_compute) {
  std::set<std::string_view> lines;
  for (const auto& row : ops::rows()) {
    BOOST_TEST(!row.line.empty(), row.name << " does not say what it computes");
    BOOST_TEST(lines.insert(row.line).second, row.name << " computes what another does");
    BOOST_TEST((row.is_extension() || row.anchor.starts_with("api-mlgraphbuilder-")),
               row.name << ": " << row.anchor);
    BOOST_TEST(!row.shapes.empty(), row.name << " does not say its shapes");
    for (const auto text : {row.line, row.shapes})
      BOOST_TEST(text.find_first_of("|\n`") == text.npos,
                 row.name << ": a cell of the page cannot hold this: " << text);
  }
}

BOOST_AUTO_TEST_CASE(the_readme_counts_them) {
  const auto page = read_file(polychron::testing::source_directory() + "/README.md");
  const auto standard =
      ops::rows().size() - std::ranges::count_if(ops::rows(), &ops::Row::is_extension);
  const auto count = std::to_string(standard) + " of WebNN's 95 operators";
  BOOST_TEST(page.find(count) != std::string::npos, "README.md does not say: " << count);
}

BOOST_AUTO_TEST_CASE(rows_have_the_specifications_types_and_ranks) {
  const std::filesystem::path path =
      polychron::testing::source_directory() + "/../shared/spec/tensor-limits.json";
  if (!std::filesystem::exists(path)) {
    BOOST_TEST_MESSAGE(
        "skipped: ../shared is absent: each operand's data types and ranks, with the "
        "specification's tables (the suite facts has them, too)");
    return;
  }
  const auto specification = json::parse(read_file(path));
  for (const auto& row : ops::rows()) {
    BOOST_TEST(specification.contains(row.name) != row.is_extension(), row.name);
    if (row.is_extension()) continue;
    const auto& operands = specification.at(std::string(row.name));
    std::size_t compared = 0;
    for (const auto& rules : {row.operands(), row.results()})
      for (const auto& rule : rules) {
        const auto name = spelled(rule, operands);
        // The specification's table lacks this one; its text has slope with the input's types.
        if (row.name == "prelu" && rule.name == "slope") continue;
        ++compared;
        BOOST_REQUIRE_MESSAGE(operands.contains(name), row.name << " " << name);
        const auto& limits = operands.at(name);
        // Packed types are beyond the specification, for what quantized models need them for.
        const bool quantizes = row.family == ops::Family::quantization;
        BOOST_TEST((quantizes || rule.types == rule.types.without(ops::type_sets::packed)));
        BOOST_TEST((rule.types.without(ops::type_sets::packed) ==
                    types_of(limits.at("allowedDataTypes"), operands)),
                   row.name << " " << name << " types");
        const auto [low, high] = ranks_of(limits.at("allowedRanks"), operands);
        BOOST_TEST((rule.rank_min == low && rule.rank_max == high),
                   row.name << " " << name << " ranks");
      }
    BOOST_TEST(compared == operands.size(), row.name);
  }
}

BOOST_AUTO_TEST_CASE(support_limits_mirror_the_rows) {
  const auto& limits = ops::support_limits(false);
  BOOST_TEST(limits.operators.size() == ops::rows().size());
  BOOST_TEST(limits.max_tensor_byte_length == max_tensor_byte_length);
  BOOST_TEST(limits.input.data_types.size() == all_data_types.size());
  const auto* conv2d = limits.find("conv2d");
  BOOST_REQUIRE(conv2d != nullptr);
  BOOST_REQUIRE_EQUAL(conv2d->operands.size(), 4U);
  const auto* bias = conv2d->find("bias");
  BOOST_REQUIRE(bias != nullptr);
  BOOST_TEST((bias->data_types == std::vector{DataType::float32, DataType::float16}));
  BOOST_TEST((bias->rank_min == 1 && bias->rank_max == 1));
  BOOST_TEST((conv2d->find("output") != nullptr));
  BOOST_TEST((conv2d->find("mean") == nullptr));
  BOOST_TEST((limits.find("conv3d") == nullptr));
  for (const auto& row : ops::rows())
    BOOST_TEST((ops::support_limits(true).find(row.name) == nullptr) == row.is_extension(),
               row.name);
}

// POLYCHRON_UPDATE=1 writes the page anew.
BOOST_AUTO_TEST_CASE(documentation_is_up_to_date) {
  const std::filesystem::path path = polychron::testing::source_directory() + "/docs/operators.md";
  if (std::getenv("POLYCHRON_UPDATE") != nullptr) std::ofstream(path) << ops::markdown();
  BOOST_TEST((read_file(path) == ops::markdown()),
             "docs/operators.md differs from the operator table: run this test with "
             "POLYCHRON_UPDATE=1");
}

BOOST_AUTO_TEST_SUITE_END()
