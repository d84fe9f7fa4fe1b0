// For every row: random calls that the specification allows, with shapes, types, options, left out
// operands and constants drawn from it, on every implementation that takes them, against the
// reference at the row's tolerance. POLYCHRON_SEED: the first seed; POLYCHRON_CALLS: how many calls
// a row (a seed each). What ran where is printed as a table with --log_level=message.
#include <algorithm>
#include <cstdlib>
#include <iomanip>
#include <map>
#include <sstream>

#include "tests/kernels/problems.hpp"
#include "tests/ops/random_calls.hpp"

namespace polychron::tests {

namespace {

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* const given = std::getenv(variable);
  return given == nullptr ? otherwise : std::strtoull(given, nullptr, 10);
}

/// What the indices of this row count along; 0 for a row without.
std::uint32_t extent_of(const ops::Row& row, const test::Descriptors& operands) {
  return row.family == ops::Family::indexing && !operands[0].shape.empty()
             ? *std::ranges::max_element(operands[0].shape)
             : 0;
}

/// Numbers that keep an operator away from where its results jump: there two right implementations
/// may differ by more than a rounding.
void keep_in_range(const ops::Row& row, ProblemMaker& maker) {
  if (row.name == "pow" || row.name == "log" || row.name == "sqrt" || row.name == "reciprocal")
    maker.range(0.25F, 2);
  if (row.name == "reduceLogSum") maker.range(0.25F, 2);
  if (row.name == "tan") maker.range(-1, 1);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(generated)

BOOST_AUTO_TEST_CASE(every_row) {
  const auto first = number_from("POLYCHRON_SEED", 1), calls = number_from("POLYCHRON_CALLS", 40);
  std::uint64_t total = 0;
  std::ostringstream table;
  for (const auto& row : ops::rows()) {
    // What is off grows with the steps there: recurrent.cpp knows by how much.
    if (row.family == ops::Family::recurrent) continue;
    std::map<std::string, int> ran;
    for (std::uint64_t seed = first; seed < first + calls; ++seed) {
      test::Random random(seed);
      const auto call = test::random_call(row, random);
      const auto operands = test::typed(row, call, random);
      ProblemMaker maker(ops::id(row), static_cast<std::uint32_t>(seed));
      maker.attributes(call.attributes);
      keep_in_range(row, maker);
      for (std::size_t i = 0; i < operands.size(); ++i) {
        const auto& [type, shape] = operands[i];
        const auto extent = i == 1 ? extent_of(row, operands) : 0;
        if (operands[i] == test::absent)
          maker.absent();
        else if (extent != 0)
          maker.indices(shape, type, extent);
        else if (i > 0 && random.coin())
          maker.constant(shape, type);
        else
          maker.input(shape, type);
      }
      for (const auto& result : test::infer(row.name, operands, call.attributes))
        maker.output(result.shape, result.data_type);
      ran[std::string(to_string(operands[0].data_type))] += check_implementations(
          maker, std::string(row.name) + ", POLYCHRON_SEED=" + std::to_string(seed));
      ++total;
    }
    table << std::left << std::setw(22) << row.name;
    for (const auto& [type, count] : ran) table << ' ' << type << ':' << count;
    table << '\n';
  }
  BOOST_TEST_MESSAGE("implementations and layouts that ran, by the first operand's type:\n"
                     << table.str() << total << " calls");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron::tests
