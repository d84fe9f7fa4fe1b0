// For every row: calls that the specification allows, with all types that it allows, and shapes,
// options, left out operands, constants and numbers (special ones too) that a seed picks, on every
// implementation that takes them, against the reference at the row's tolerance. What fails is
// shrunk and printed as a conformance case, which `polychron conformance` reads.
// POLYCHRON_SEED: the first seed. POLYCHRON_CALLS: how many calls a row. POLYCHRON_SECONDS: for so
// long instead. POLYCHRON_OPERATOR: of this row only. What ran where is printed as a table with
// --log_level=message.
#include <boost/test/unit_test.hpp>

#include "tests/kernels/budget.hpp"
#include "tests/kernels/coverage.hpp"
#include "tests/kernels/generated_values.hpp"

namespace polychron::tests {

BOOST_AUTO_TEST_SUITE(generated)

BOOST_AUTO_TEST_CASE(every_row) {
  Budget budget(160);
  Coverage coverage;
  for (; budget.left(); budget.next())
    for (const auto& row : ops::rows()) {
      if (!budget.takes(row)) continue;
      const auto choices = type_choices(row);
      test::Random random(budget.seed());
      const auto call = generate(row, choices[budget.round() % choices.size()], random);
      const auto problem = call.problem();
      const auto values = call.values();
      const auto runs = run_implementations(problem, values, reference_results(problem, values));
      coverage.count(call, runs);
      const unsigned specials = call.specials();
      for (const Run& run : runs)
        BOOST_TEST((run.complaint.empty() ||
                    (exempt(row, kernels::implementations(problem.op)[run.implementation].name) &
                     specials) != 0),
                   call.text() << ", "
                               << kernels::implementations(problem.op)[run.implementation].name
                               << " " << to_string(run.layout) << run.complaint
                               << ", POLYCHRON_SEED=" << budget.seed());
    }
  BOOST_TEST_MESSAGE("calls that each implementation took, by type:\n" << coverage.table());
  BOOST_TEST_MESSAGE(coverage.calls()
                     << " calls, " << coverage.runs() << " runs besides the reference, "
                     << budget.rate(coverage.calls()) << " calls a second");
  if (budget.whole())
    for (const auto& missing : coverage.missing()) BOOST_ERROR("not called: " << missing);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron::tests
