// polychron::stress as an embedder uses it: own clients under searched schedules, on real graphs.
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <set>
#include <stdexcept>

#include "observe/trace/check.hpp"
#include "observe/trace/joined_trace.hpp"
#include "polychron/polychron.hpp"
#include "polychron/stress.hpp"

using namespace polychron;
using stress::Scenario;
using stress::SearchOptions;
using stress::Simulation;

namespace {

const OperandDescriptor two{DataType::float32, {2}};

Tensor tensor_in(Context& context) { return context.create_tensor({two, true, true, {}}).get(); }

float first_of(Context& context, const Tensor& tensor) {
  return context.read_tensor(tensor).get().to_vector<float>()[0];
}

void expect(bool holds, const char* otherwise) {
  if (!holds) throw std::runtime_error(otherwise);
}

/// The finding; "nothing" without one.
std::string found_in(const Scenario& scenario, const SearchOptions& options = {}) {
  const auto report = stress::search(scenario, options);
  return report.finding ? report.finding->what : "nothing";
}

/// Two clients add to one number, each reading it before; together, so that one's is lost.
void lost_update(Simulation& world) {
  auto context = world.create_context();
  const auto sum = tensor_in(context);
  float seen[2] = {};
  for (int i = 0; i < 2; ++i)
    world.client(i == 0 ? "first" : "second", {[&, i] { seen[i] = first_of(context, sum); },
                                               [&, i] {
                                                 context.write_tensor(
                                                     sum, std::vector{seen[i] + 1, 0.0F},
                                                     {.label = i == 0 ? "first" : "second"});
                                               }});
  world.run();
  expect(first_of(context, sum) == 2, "an update was lost");
}

/// The same by leases, which take turns.
void leased_update(Simulation& world) {
  auto context = world.create_context();
  const auto sum = tensor_in(context);
  for (const char* name : {"first", "second"})
    world.client(name, {[&] {
                   auto lease = context.export_tensor(sum).get();
                   float number = 0;
                   std::memcpy(&number, lease.bytes().data(), sizeof number);
                   ++number;
                   std::memcpy(lease.bytes().data(), &number, sizeof number);
                 }});
  world.run();
  expect(first_of(context, sum) == 2, "an update was lost");
}

template <class F>
ErrorKind kind_thrown_by(F call) {
  try {
    call();
  } catch (const Error& error) {
    return error.kind();
  }
  BOOST_ERROR("nothing was thrown");
  return ErrorKind::internal;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(simulation)

BOOST_AUTO_TEST_CASE(every_strategy_finds_a_lost_update_and_replays_it) {
  for (const char* strategy : {"mixed", "random", "pct", "pos"}) {
    const auto report = stress::search(lost_update, {.strategy = strategy});
    BOOST_REQUIRE_MESSAGE(report.finding, strategy << " found nothing");
    const auto& finding = *report.finding;
    BOOST_TEST(finding.what == "an update was lost", strategy << ": " << finding.what);
    BOOST_TEST(finding.steps.size() == 4U, strategy << ": " << finding.steps.size() << " steps");
    BOOST_TEST(finding.schedules == report.schedules);
    const auto again = stress::replay(lost_update, finding.token);
    BOOST_REQUIRE_MESSAGE(again, strategy << ": nothing is found by " << finding.token);
    BOOST_TEST(again->what == finding.what);
    BOOST_TEST(again->steps == finding.steps, boost::test_tools::per_element());
  }
}

// The invariant is the embedder's own: nothing of the library is wrong in this run.
BOOST_AUTO_TEST_CASE(a_finding_can_be_looked_at) {
  const auto finding = stress::search(lost_update, {.strategy = "random"}).finding;
  BOOST_REQUIRE(finding.has_value());
  const auto story = trace::join(finding->trace);
  std::set<std::string> seen;
  for (const auto& event : story.events)
    if (event.kind == trace::Event::Kind::operation) seen.insert(event.name + " " + event.label);
  BOOST_TEST(seen.contains("write first"));
  BOOST_TEST(seen.contains("write second"));
  BOOST_TEST(trace::check(story).broken.empty());
  const auto again = stress::replay(lost_update, finding->token);
  BOOST_REQUIRE(again.has_value());
  BOOST_TEST(trace::join(again->trace).events.size() == story.events.size());
  // Each context has a recording of its own.
  const auto two_contexts = stress::search([](Simulation& world) {
    auto one = world.create_context({.label = "one"});
    auto other = world.runtime().create_context({.label = "other", .lanes = 2}).get();
    first_of(one, tensor_in(one));
    first_of(other, tensor_in(other));
    expect(false, "looked for");
  });
  BOOST_REQUIRE(two_contexts.finding.has_value());
  const auto both = trace::join(two_contexts.finding->trace);
  BOOST_TEST(both.contexts.size() == 2U);
}

BOOST_AUTO_TEST_CASE(a_step_says_in_whose_middle_it_was) {
  const Scenario scenario = [](Simulation& world) {
    auto context = world.create_context();
    const auto sum = tensor_in(context);
    bool begun = false, ended = false;
    world.client("outer", {[&] {
                   begun = true;
                   first_of(context, sum);
                   ended = true;
                 }});
    world.client("inner", {[&] { expect(!begun || ended, "in the middle"); }});
    world.run();
  };
  const auto finding = stress::search(scenario).finding;
  BOOST_REQUIRE(finding.has_value());
  const std::vector<std::string> steps{"outer, step 1",
                                       "inner, step 1 (in the middle of outer, step 1)"};
  BOOST_TEST(finding->steps == steps, boost::test_tools::per_element());
  BOOST_TEST(finding->what == "inner, step 1: in the middle");
  const auto whole = stress::search(scenario, {.schedules = 200, .nested = false});
  BOOST_TEST(!whole.finding.has_value());
}

BOOST_AUTO_TEST_CASE(a_seed_finds_the_same_each_time) {
  const auto one = stress::search(lost_update, {.seed = 7}).finding;
  const auto two_ = stress::search(lost_update, {.seed = 7}).finding;
  BOOST_REQUIRE(one.has_value() && two_.has_value());
  BOOST_TEST(one->token == two_->token);
  BOOST_TEST(one->schedules == two_->schedules);
}

BOOST_AUTO_TEST_CASE(what_is_right_is_not_found_wrong) {
  const auto report = stress::search(leased_update, {.schedules = 300, .nested = false});
  BOOST_TEST(report.schedules == 300U);
  BOOST_TEST((!report.finding), (report.finding ? report.finding->what : ""));
}

BOOST_AUTO_TEST_CASE(graphs_compute_kernels_fail_and_time_passes) {
  const Scenario scenario = [](Simulation& world) {
    auto context = world.create_context({.lanes = 2});
    GraphBuilder builder(context);
    const auto x = builder.input("x", two);
    const auto twice = builder.build({{"y", builder.add(x, x)}}).get();
    const auto in = tensor_in(context), out = tensor_in(context), late = tensor_in(context);
    world.client("writer", {[&] { context.write_tensor(in, std::vector<float>{3, 4}); }});
    world.run();
    context.dispatch(twice, {{"x", in}}, {{"y", out}});
    expect(first_of(context, out) == 6, "3 + 3 is 6");

    world.fail_kernel(1, ErrorKind::out_of_memory);
    context.dispatch(twice, {{"x", in}}, {{"y", out}});
    const auto failed = context.read_tensor(out).take();
    expect(!failed && failed.error().root().kind() == ErrorKind::out_of_memory, "it failed");

    const auto deadline = world.now() + std::chrono::milliseconds(5);
    world.advance(std::chrono::milliseconds(6));
    context.write_tensor(late, std::vector<float>{1, 1}, {.label = "late", .deadline = deadline});
    const auto skipped = context.read_tensor(late).take();
    expect(!skipped && skipped.error().root().kind() == ErrorKind::timed_out, "it was late");
  };
  BOOST_TEST(found_in(scenario, {.schedules = 100}) == "nothing");
}

BOOST_AUTO_TEST_CASE(callbacks_are_steps_of_their_own_and_may_wait) {
  const Scenario scenario = [](Simulation& world) {
    auto context = world.create_context();
    const auto tensor = tensor_in(context);
    int heard = 0;
    world.client("reader", {[&] {
                   context.write_tensor(tensor, std::vector<float>{5, 0});
                   context.read_tensor(tensor).then(
                       [&](Result<Buffer>) { heard += first_of(context, tensor) == 5 ? 1 : 100; });
                   heard += 1000 * heard;  // not in here
                 }});
    world.run();
    expect(heard == 1, "the callback ran once, and later");
  };
  BOOST_TEST(found_in(scenario, {.schedules = 200}) == "nothing");
}

BOOST_AUTO_TEST_CASE(clients_may_own_what_they_use_and_need_not_come_to_their_turn) {
  const Scenario scenario = [](Simulation& world) {
    auto context = world.create_context();
    const auto tensor = tensor_in(context);
    world.client("owner", {[context, tensor]() mutable { first_of(context, tensor); }});
  };
  BOOST_TEST(found_in(scenario, {.schedules = 20}) == "nothing");
}

BOOST_AUTO_TEST_CASE(what_the_world_itself_sees_is_a_finding) {
  BOOST_TEST(found_in([](Simulation& world) {
               auto context = world.create_context();
               context.read_tensor(tensor_in(context)).then([](Result<Buffer>) {
                 throw std::runtime_error("in a callback");
               });
               world.run();
             }) == "a callback threw");
  BOOST_TEST(found_in([](Simulation& world) {
               auto context = world.create_context();
               const auto tensor = tensor_in(context);
               const auto lease = context.export_tensor(tensor).get();
               first_of(context, tensor);
             }) == "this future can never be settled: no other thread can run");
  BOOST_TEST(found_in([](Simulation& world) {
               world.client("one", {[] { throw 1; }});
               world.run();
             }) == "one, step 1 threw something that is not a std::exception");
  // A handle that is still there when the scenario has returned.
  std::vector<Context> kept;
  const auto what = found_in([&](Simulation& world) { kept.push_back(world.create_context()); });
  BOOST_TEST(what.ends_with("stays: does something outlive the scenario?"), what);
}

BOOST_AUTO_TEST_CASE(after_what_a_step_throws_no_other_is_made) {
  int later = 0;
  const Scenario scenario = [&](Simulation& world) {
    world.client("one", {[] { throw std::runtime_error("wrong"); }, [&] { ++later; }});
    world.run();
    ++later;
  };
  BOOST_TEST(found_in(scenario) == "one, step 1: wrong");
  BOOST_TEST(later == 0);
}

BOOST_AUTO_TEST_CASE(wrong_arguments_are_typed_errors) {
  BOOST_TEST((kind_thrown_by([] { stress::search(lost_update, {.strategy = "best"}); }) ==
              ErrorKind::type_error));
  for (const char* token : {"", "0.1", "s0..1", "s1x"})
    BOOST_TEST((kind_thrown_by([&] { stress::replay(lost_update, token); }) == ErrorKind::bad_data),
               "'" << token << "'");
  const auto finding = stress::search(lost_update).finding;
  BOOST_REQUIRE(finding.has_value());
  BOOST_TEST(
      (kind_thrown_by([] { stress::replay(lost_update, "s7.7.7"); }) == ErrorKind::bad_data));
}

BOOST_AUTO_TEST_SUITE_END()
