// Generated calls as plans: each alone, and inside a small random graph, compiled with passes and
// without. They are compared with the same graph on reference kernels, at the row's tolerance. A
// failure is shrunk and printed as a conformance case. The environment is that of generated.cpp.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <set>

#include "kernels/cpu/cpu_backend.hpp"
#include "tests/kernels/budget.hpp"
#include "tests/kernels/comparison.hpp"
#include "tests/kernels/generated_values.hpp"
#include "tests/kernels/graphs.hpp"
#include "tests/kernels/shrink.hpp"
#include "tests/kernels/surroundings.hpp"

namespace polychron::tests {

namespace {

using kernels::make_cpu_backend;

struct Planned {
  std::vector<Buffer> outputs;
  std::vector<std::string> steps;
};

Planned planned(const kernels::PlanSettings& settings, const std::shared_ptr<ops::Graph>& graph,
                const std::vector<Buffer>& inputs) {
  Runner runner(make_cpu_backend(settings), graph);
  for (std::size_t i = 0; i < inputs.size(); ++i) runner.set(i, inputs[i].bytes());
  runner.run();
  runner.run();  // in memory that has been used
  Planned planned{{}, runner.plan().describe()};
  for (std::size_t i = 0; i < graph->outputs.size(); ++i)
    planned.outputs.push_back(runner.bytes(i));
  return planned;
}

std::vector<Buffer> inputs_of(const GeneratedCall& call) {
  std::vector<Buffer> inputs;
  for (const auto& operand : call.operands)
    if (operand.present && !operand.constant) inputs.push_back(Buffer::copy_of(operand.bytes));
  return inputs;
}

/// The row's tolerance; each step behind the operator doubles it at most, and rounds.
Allowed allowed_in(const SurroundedCall& made, const GeneratedCall& call) {
  Allowed allowed = allowed_of(call.problem());
  if (made.rounding_steps == 0) return allowed;
  const bool half = call.results[0].data_type == DataType::float16;
  allowed.own_scale = allowed.copies = false;
  for (std::size_t i = 0; i < made.rounding_steps; ++i)
    allowed.tolerance = 2 * allowed.tolerance + (half ? 0x1p-9 : 0x1p-20);
  return allowed;
}

/// The error in the plans of `made`; empty without one.
std::string complaint_about(const SurroundedCall& made, const GeneratedCall& call) {
  const auto inputs = inputs_of(call);
  const auto expected = planned({.optimize = false, .reference_only = true}, made.graph, inputs);
  const Allowed allowed = allowed_in(made, call);
  for (const bool optimize : {true, false}) {
    const auto actual =
        planned({.optimize = optimize, .reference_only = false}, made.graph, inputs);
    for (std::size_t i = 0; i < expected.outputs.size(); ++i) {
      const auto& [name, value] = made.graph->outputs[i];
      const auto& descriptor = made.graph->values[value].descriptor;
      const auto worst = difference(descriptor, actual.outputs[i], expected.outputs[i], allowed);
      if (worst.distance <= allowed.tolerance) continue;
      std::string text = optimize ? "with passes" : "without passes";
      text += ": " + name + " is off by " + std::to_string(worst.distance) + ", allowed " +
              std::to_string(allowed.tolerance) + ": " +
              text_of(worst, descriptor, actual.outputs[i], expected.outputs[i]);
      for (const auto& step : actual.steps) text += "\n    " + step;
      return text;
    }
  }
  return {};
}

/// Results that other operators may compute with.
bool are_moderate(const GeneratedCall& call) {
  const auto results = reference_results(call.problem(), call.values());
  for (std::size_t i = 0; i < results.size(); ++i)
    for (const double number : numbers_of(call.results[i], results[i]))
      if (!(std::fabs(number) < 1000)) return false;
  return true;
}

std::string case_of(const SurroundedCall& made, const GeneratedCall& call,
                    const std::string& name) {
  const auto inputs = inputs_of(call);
  const auto expected = planned({.optimize = false, .reference_only = true}, made.graph, inputs);
  return case_text(*made.graph, inputs, expected.outputs, name, "ATOL",
                   allowed_in(made, call).tolerance);
}

/// Steps are taken out, then the call in them is made smaller.
void report(GeneratedCall call, Surroundings around, const std::string& complaint,
            std::uint64_t seed) {
  const auto fails = [&](const GeneratedCall& smaller) {
    if ((exempt(*call.row) & smaller.specials()) != 0) return false;
    try {
      return !complaint_about(surrounded(smaller, around), smaller).empty();
    } catch (const Error&) {  // a step that the smaller call's types or shapes do not allow
      return false;
    }
  };
  const auto full = call.text();
  const auto without = [&](auto change) {
    const Surroundings before = around;
    change(around);
    if (!fails(call)) around = before;
  };
  without([](Surroundings& s) { s.own = false; });
  without([](Surroundings& s) { s.kept = false; });
  const auto erase = [](auto& list, std::size_t place) {
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(place));
  };
  for (std::size_t k = 0; k < around.before.size(); ++k)
    for (std::size_t i = around.before[k].size(); i-- > 0;)
      without([&](Surroundings& s) { erase(s.before[k], i); });
  for (std::size_t i = around.after.size(); i-- > 0;)
    without([&](Surroundings& s) { erase(s.after, i); });
  const auto small = shrunk(std::move(call), fails, 1500);
  const auto made = surrounded(small, around);
  const auto name = std::string(small.row->name) + ", seed " + std::to_string(seed);
  BOOST_ERROR(full << ", POLYCHRON_SEED=" << seed << ", " << complaint
                   << "\n  shrunk: " << small.text() << ", " << complaint_about(made, small)
                   << "\n  as a case: " << case_of(made, small, name));
}

/// A call without special numbers that some implementation of it is not held to.
std::optional<GeneratedCall> call_for_plan(const ops::Row& row, const std::vector<DataType>& types,
                                           test::Random& random) {
  for (int i = 0; i < 8; ++i)
    if (auto call = generate(row, types, random); (exempt(row) & call.specials()) == 0) return call;
  return std::nullopt;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(generated_plans)

BOOST_AUTO_TEST_CASE(alone_and_among_others) {
  Budget budget(600);
  std::uint64_t plans = 0;
  std::set<std::string_view> told;
  for (; budget.left(); budget.next())
    for (const auto& row : ops::rows()) {
      if (!budget.takes(row)) continue;
      const auto choices = type_choices(row);
      test::Random random(budget.seed());
      const auto call = call_for_plan(row, choices[budget.round() % choices.size()], random);
      if (!call) continue;
      Surroundings alone;
      alone.before.resize(call->operands.size());
      const auto around = random_surroundings(*call, are_moderate(*call), random);
      for (const Surroundings& surroundings : {alone, around}) {
        const auto complaint = complaint_about(surrounded(*call, surroundings), *call);
        if (!complaint.empty() && told.insert(row.name).second)
          report(*call, surroundings, complaint, budget.seed());
        else if (!complaint.empty())  // one of a row is shrunk: that takes its time
          BOOST_ERROR(call->text() << ", POLYCHRON_SEED=" << budget.seed() << ", " << complaint);
        plans += 2;
      }
    }
  BOOST_TEST_MESSAGE(plans << " plans besides the reference's, " << budget.rate(plans)
                           << " a second of processor time");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron::tests
