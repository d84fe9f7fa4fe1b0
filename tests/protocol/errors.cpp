// Errors follow the data (WebNN issue 778): clauses "errors" of docs/contract.md.
#include "tests/protocol/fixture.hpp"

using namespace polychron;
using namespace polychron::testing;

BOOST_AUTO_TEST_SUITE(errors)

BOOST_AUTO_TEST_CASE(issue_778_the_example) {
  Server s;
  const auto foo = s.graph("graph1"), bar = s.graph("graph2");
  const auto in = s.tensor("in"), a = s.tensor("tensorA"), b = s.tensor("tensorB");
  s.write(in, 1);
  s.faults->fail(FaultPoint::execute, 1, {});
  s.dispatch(foo, in, a, {.label = "foo"});
  s.dispatch(bar, a, b, {.label = "bar"});
  const auto error_a = rejected(ErrorKind::operation_error, s.read(a));
  const auto error_b = rejected(ErrorKind::operation_error, s.read(b));
  BOOST_TEST(mentions(error_a, "dispatch 'foo'"));
  BOOST_TEST(!mentions(error_a, "bar"));
  const std::string text = error_b.what();
  const auto bar_at = text.find("dispatch 'bar'"), foo_at = text.find("dispatch 'foo'"),
             operator_at = text.find("operator 'faulty'");
  BOOST_TEST_MESSAGE(text);
  BOOST_TEST(bar_at < foo_at);
  BOOST_TEST(foo_at < operator_at);
  BOOST_TEST(operator_at != std::string::npos);
  BOOST_TEST(mentions(error_b, "input 'in0' (tensor 'tensorA') errored by"));
  BOOST_TEST((error_b.root().kind() == ErrorKind::out_of_memory));

  s.write(a, 5);
  BOOST_TEST(s.read(a).value() == 5U);
  s.dispatch(bar, a, b);
  BOOST_TEST(s.read(b).value() == Server::result("graph2", 5));
}

BOOST_AUTO_TEST_CASE(what_was_not_affected_is_not_errored) {
  Server s;
  const auto g = s.graph("g");
  const auto in = s.tensor(), bad = s.tensor(), good = s.tensor();
  s.write(in, 3);
  s.faults->fail(FaultPoint::execute, 1, {});
  s.dispatch(g, in, bad);
  s.dispatch(g, in, good);
  BOOST_TEST(!s.read(bad).has_value());
  BOOST_TEST(s.read(in).value() == 3U);
  BOOST_TEST(s.read(good).value() == Server::result("g", 3));
}

BOOST_AUTO_TEST_CASE(case_1_a_device_that_is_gone_loses_its_context_and_no_other) {
  Server s;
  const auto other = s.world.settle(s.world.runtime().create_context({})).value();
  auto lost = s.context.lost();
  const auto g = s.graph("g");
  const auto in = s.tensor(), out = s.tensor();
  auto read_before = s.context.read_tensor(in);
  s.world.run();
  s.faults->fail(FaultPoint::execute, 1, {.kind = ErrorKind::context_lost});
  s.dispatch(g, in, out);
  auto read_after = s.context.read_tensor(out);
  s.world.run();
  BOOST_TEST(read_before.take().has_value());
  BOOST_REQUIRE(lost.ready());
  const auto info = lost.get();
  BOOST_TEST((info.reason == LostReason::device_failed));
  BOOST_TEST(info.message.find("injected fault") != std::string::npos);
  rejected(ErrorKind::context_lost, read_after.take());
  thrown(ErrorKind::context_lost, [&] { s.write(in, 1); });
  BOOST_TEST(s.world.settle(Context(other).create_tensor(stress::value_descriptor)).has_value());
}

BOOST_AUTO_TEST_CASE(case_2_a_shortage_errors_the_outputs_of_one_dispatch) {
  Server s;
  const auto g = s.graph("g");
  const auto in = s.tensor(), out = s.tensor();
  s.write(in, 3);
  s.faults->fail(FaultPoint::execute, 1, {});
  s.dispatch(g, in, out);
  s.dispatch(g, in, out);
  BOOST_TEST(s.read(out).value() == Server::result("g", 3));
  BOOST_TEST(s.context.stats().failed == 1U);
}

// The dispatch right after the failed one, issued before that has run, already fails fast.
BOOST_AUTO_TEST_CASE(case_3_an_inherent_failure_makes_the_graph_invalid) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Server s({}, seed);
    const auto g = s.graph("sick"), h = s.graph("healthy");
    const auto in = s.tensor(), out = s.tensor();
    s.faults->fail(FaultPoint::execute, 1, {.kind = ErrorKind::not_supported, .inherent = true});
    s.dispatch(g, in, out, {.label = "first"});
    s.dispatch(g, in, out, {.label = "second"});
    const auto error = rejected(ErrorKind::operation_error, s.read(out));
    BOOST_TEST(mentions(error, "dispatch 'second'"), "seed " << seed);
    BOOST_TEST(mentions(error, "graph 'sick' is invalid since dispatch 'first'"), "seed " << seed);
    NamedBuffers inputs, outputs;
    inputs.emplace_back("in0", Buffer(8));
    outputs.emplace_back("out", Buffer(8));
    const auto done =
        s.world.settle(s.context.compute(g, std::move(inputs), std::move(outputs))).value();
    BOOST_REQUIRE(!done.status.has_value());
    BOOST_TEST((done.status.error().kind() == ErrorKind::graph_invalid));
    BOOST_TEST(done.outputs.at(0).second.size() == 8U);
    s.dispatch(h, in, out);
    BOOST_TEST(s.read(out).has_value());
  }
}

BOOST_AUTO_TEST_CASE(case_4_bad_values_error_the_outputs_only) {
  Server s;
  const auto g = s.graph("g");
  const auto in = s.tensor(), out = s.tensor();
  s.faults->fail(FaultPoint::execute, 1, {.kind = ErrorKind::operation_error});
  s.dispatch(g, in, out);
  BOOST_TEST(!s.read(out).has_value());
  s.dispatch(g, in, out);
  BOOST_TEST(s.read(out).has_value());
}

BOOST_AUTO_TEST_CASE(a_failed_write_errors_the_tensor_and_the_next_one_clears_it) {
  Server s;
  const auto t = s.tensor("weights");
  s.faults->fail(FaultPoint::adopt, 1, {});
  s.write(t, 1, "upload");
  const auto error = rejected(ErrorKind::operation_error, s.read(t));
  BOOST_TEST(mentions(error, "'upload'"));
  BOOST_TEST(mentions(error, "tensor 'weights'"));
  s.write(t, 2);
  BOOST_TEST(s.read(t).value() == 2U);
}

BOOST_AUTO_TEST_CASE(an_exception_of_a_backend_is_an_error_like_any_other) {
  Server s;
  const auto g = s.graph("g");
  const auto in = s.tensor(), out = s.tensor();
  s.faults->fail(FaultPoint::execute, 1, {.throws = true});
  s.dispatch(g, in, out);
  BOOST_TEST(mentions(rejected(ErrorKind::operation_error, s.read(out)), "injected exception"));
  s.faults->fail(FaultPoint::allocate, 1, {.throws = true});
  BOOST_TEST(!s.world.settle(s.context.create_tensor(stress::value_descriptor)).has_value());
  BOOST_TEST(!s.context.lost().ready());
}

BOOST_AUTO_TEST_CASE(a_long_chain_keeps_its_ends) {
  Server s;
  const auto g = s.graph("g");
  const auto a = s.tensor("a"), b = s.tensor("b");
  s.faults->fail(FaultPoint::execute, 1, {});
  s.dispatch(g, a, b, {.label = "root"});
  for (int i = 0; i < 1000; ++i) {
    s.dispatch(g, b, a, {.label = "there"});
    s.dispatch(g, a, b, {.label = i == 999 ? "last" : "back"});
  }
  const auto error = rejected(ErrorKind::operation_error, s.read(b));
  BOOST_TEST(mentions(error, "'last'"));
  BOOST_TEST(mentions(error, "operator 'faulty'"));
  BOOST_TEST(std::string(error.what()).size() < 5000U);
}

BOOST_AUTO_TEST_CASE(tensor_error_asks_without_reading) {
  Server s;
  const auto g = s.graph("g");
  const auto in = s.tensor(), out = s.tensor();
  s.faults->fail(FaultPoint::execute, 1, {});
  s.dispatch(g, in, out, {.label = "foo"});
  const auto error = s.world.settle(out.error()).value();
  BOOST_REQUIRE(error.has_value());
  BOOST_TEST(mentions(*error, "'foo'"));
  BOOST_TEST(!s.world.settle(in.error()).value().has_value());
}

BOOST_AUTO_TEST_CASE(a_shortage_under_a_memory_limit_is_named_and_passes) {
  ContextOptions options;
  options.memory_limit = 32;
  Server s(options);
  auto a = s.tensor("a"), b = s.tensor("b"), c = s.tensor("c"), d = s.tensor("d");
  const auto error = rejected(ErrorKind::out_of_memory,
                              s.world.settle(s.context.create_tensor(stress::value_descriptor)));
  BOOST_TEST(
      mentions(error, "8 bytes asked, 0 bytes left of the context's memory_limit of 32 bytes"));
  d.destroy();
  BOOST_TEST(s.world.settle(s.context.create_tensor(stress::value_descriptor)).has_value());
}

BOOST_AUTO_TEST_CASE(a_failed_compilation_rejects_the_build) {
  Server s;
  s.faults->fail(FaultPoint::compile, 1, {});
  auto build = detail::submit_build(s.context, graph_of_tests("g", 1), {"g"});
  const auto error = rejected(ErrorKind::out_of_memory, s.world.settle(std::move(build)));
  BOOST_TEST(mentions(error, "build 'g'"));
  BOOST_TEST(s.graph("g").label() == "g");
}

BOOST_AUTO_TEST_SUITE_END()
