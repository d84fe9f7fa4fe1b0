// For every row: calls that the specification allows, with all types that it allows. A seed picks
// shapes, options, omitted operands, constants and numbers (special ones too). Every implementation
// that takes a call is compared with the reference at the row's tolerance. A failure is shrunk and
// printed as a conformance case, which `polychron conformance` reads.
//
// POLYCHRON_SEED: the first seed. POLYCHRON_CALLS: the number of calls for each row.
// POLYCHRON_SECONDS: the duration instead. POLYCHRON_OPERATOR: only this row. With
// --log_level=message a table shows what ran where.
#include <boost/test/unit_test.hpp>
#include <set>

#include "tests/kernels/budget.hpp"
#include "tests/kernels/coverage.hpp"
#include "tests/kernels/generated_values.hpp"
#include "tests/kernels/shrink.hpp"

namespace polychron::tests {

namespace {

std::vector<Run> runs_of(const GeneratedCall& call) {
  const auto problem = call.problem();
  const auto values = call.values();
  return run_implementations(problem, values, reference_results(problem, values));
}

/// The first run with something wrong that is not exempt, "onednn blocked8: result 0 is off ...";
/// of implementation `only` if that is given.
struct Fault {
  std::size_t implementation = 0;
  std::string text;
};
std::optional<Fault> fault_in(const GeneratedCall& call, const std::vector<Run>& runs,
                              std::optional<std::size_t> only = std::nullopt) {
  const auto list = ways_of(ops::id(*call.row));
  for (const Run& run : runs) {
    if (run.complaint.empty() || (only && run.implementation != *only)) continue;
    const auto name = list[run.implementation].name;
    if (!run.overran && (exempt(*call.row, name == "parts" ? "" : name) & call.specials()) != 0)
      continue;
    return Fault{run.implementation,
                 std::string(name) + " " + std::string(to_string(run.layout)) + run.complaint};
  }
  return std::nullopt;
}

void report(const GeneratedCall& call, const Fault& fault, std::uint64_t seed) {
  const auto fails = [&](const GeneratedCall& smaller) {
    return fault_in(smaller, runs_of(smaller), fault.implementation).has_value();
  };
  const auto small = shrunk(call, fails);
  const auto least = fault_in(small, runs_of(small), fault.implementation).value_or(fault);
  const auto name = std::string(call.row->name) + ", seed " + std::to_string(seed);
  BOOST_ERROR(call.text() << ", " << fault.text << ", POLYCHRON_SEED=" << seed
                          << "\n  shrunk: " << small.text() << ", " << least.text
                          << "\n  as a case: " << case_text(small, name));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(generated)

BOOST_AUTO_TEST_CASE(every_row) {
  Budget budget(2000);
  Coverage coverage;
  std::set<std::string_view> told;
  for (; budget.left(); budget.next())
    for (const auto& row : ops::rows()) {
      if (!budget.takes(row)) continue;
      const auto choices = type_choices(row);
      test::Random random(budget.seed());
      const auto call = generate(row, choices[budget.round() % choices.size()], random);
      const auto runs = runs_of(call);
      coverage.count(call, runs);
      const auto fault = fault_in(call, runs);
      if (fault && told.insert(row.name).second)
        report(call, *fault, budget.seed());
      else if (fault)  // one of a row is shrunk: that takes its time
        BOOST_ERROR(call.text() << ", " << fault->text << ", POLYCHRON_SEED=" << budget.seed());
    }
  BOOST_TEST_MESSAGE("calls that each implementation took, by type:\n" << coverage.table());
  BOOST_TEST_MESSAGE(coverage.calls()
                     << " calls, " << coverage.runs() << " runs besides the reference, "
                     << budget.rate(coverage.calls()) << " calls a second of processor time");
  if (budget.whole())
    for (const auto& missing : coverage.missing()) BOOST_ERROR("not called: " << missing);
}

// A defect that is put in is found again, small: without it nobody would know that shrinking works.
BOOST_AUTO_TEST_CASE(what_fails_is_shrunk) {
  test::Random random(7);
  const auto& row = *ops::find("conv2d");
  const auto is_wrong = [](const GeneratedCall& call) {
    const auto& a = std::get<Conv2dAttributes>(call.attributes);
    return a.strides[1] > 1 && call.operands[1].descriptor.shape[0] > 1;
  };
  auto call = generate(row, type_choices(row)[0], random);
  while (!is_wrong(call)) call = generate(row, type_choices(row)[0], random);
  const auto small = shrunk(call, is_wrong);
  BOOST_TEST(is_wrong(small));
  std::uint64_t elements = 0;
  for (const auto& operand : small.operands)
    if (operand.present) elements += *element_count(operand.descriptor.shape);
  BOOST_TEST(elements <= 8U, "of " << call.text() << " remains " << small.text());
  BOOST_TEST(case_text(small, "small").size() < 1000U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron::tests
