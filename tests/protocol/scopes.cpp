// Error scopes and the uncaptured-error handler: clauses "observation" of docs/contract.md.
#include "tests/protocol/fixture.hpp"

using namespace polychron;
using namespace polychron::testing;

namespace {
std::optional<Error> pop(Server& s) { return s.world.settle(s.context.pop_error_scope()).value(); }
}  // namespace

BOOST_AUTO_TEST_SUITE(scopes)

BOOST_AUTO_TEST_CASE(a_scope_takes_the_first_error_of_its_calls_also_when_it_comes_late) {
  Server s;
  const auto g = s.graph("g");
  const auto in = s.tensor(), out = s.tensor();
  s.context.push_error_scope(ErrorFilter::out_of_memory);
  s.faults->fail(FaultPoint::execute, 1, {});
  s.faults->fail(FaultPoint::execute, 2, {});
  s.dispatch(g, in, out, {.label = "first"});
  s.dispatch(g, in, out, {.label = "second"});
  auto reply = s.context.pop_error_scope();
  const auto error = s.world.settle(std::move(reply)).value();
  BOOST_REQUIRE(error.has_value());
  BOOST_TEST(mentions(*error, "'first'"));
}

BOOST_AUTO_TEST_CASE(errors_before_and_after_a_scope_are_not_its) {
  Server s;
  const auto g = s.graph("g");
  const auto in = s.tensor(), out = s.tensor();
  s.faults->fail(FaultPoint::execute, 1, {});
  s.faults->fail(FaultPoint::execute, 3, {});
  s.dispatch(g, in, out);
  s.context.push_error_scope(ErrorFilter::out_of_memory);
  s.dispatch(g, in, out);
  auto reply = s.context.pop_error_scope();
  s.dispatch(g, in, out);
  BOOST_TEST(!s.world.settle(std::move(reply)).value().has_value());
}

BOOST_AUTO_TEST_CASE(filters_choose_and_scopes_nest) {
  Server s;
  const auto g = s.graph("g");
  const auto in = s.tensor(), out = s.tensor();
  s.context.push_error_scope(ErrorFilter::internal);
  s.context.push_error_scope(ErrorFilter::out_of_memory);
  s.context.push_error_scope(ErrorFilter::validation);
  s.faults->fail(FaultPoint::execute, 1, {.kind = ErrorKind::operation_error});
  s.dispatch(g, in, out);
  thrown(ErrorKind::type_error, [&] {
    s.context.write_tensor(in, std::vector<std::uint64_t>{1, 2});
  });
  const auto validation = pop(s), memory = pop(s), internal = pop(s);
  BOOST_REQUIRE(validation.has_value());
  BOOST_TEST((validation->kind() == ErrorKind::type_error));
  BOOST_TEST(!memory.has_value());
  BOOST_REQUIRE(internal.has_value());
  BOOST_TEST(mentions(*internal, "injected fault"));
}

BOOST_AUTO_TEST_CASE(an_error_that_no_scope_takes_goes_to_the_handler_once) {
  Server s;
  const auto g = s.graph("g");
  const auto in = s.tensor(), a = s.tensor(), b = s.tensor();
  std::vector<std::string> seen;
  s.context.on_uncaptured_error([&](const Error& error) { seen.emplace_back(error.what()); });
  s.faults->fail(FaultPoint::execute, 1, {});
  s.dispatch(g, in, a, {.label = "foo"});
  s.dispatch(g, a, b, {.label = "bar"});  // not run: its cause has been reported
  s.world.run();
  BOOST_REQUIRE(seen.size() == 1U);
  BOOST_TEST(seen[0].find("'foo'") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(popping_without_a_scope_is_an_error) {
  Server s;
  rejected(ErrorKind::invalid_state, s.world.settle(s.context.pop_error_scope()));
}

BOOST_AUTO_TEST_CASE(a_build_that_does_not_fit_is_told_to_its_future_alone) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    stress::RandomStrategy strategy(seed);
    // Its plans keep 16 bytes.
    stress::World world(
        strategy, [](const ContextOptions&) -> Result<std::shared_ptr<kernels::Backend>> {
          return std::shared_ptr<kernels::Backend>(std::make_shared<stress::SymbolicBackend>(16));
        });
    ContextOptions options;
    options.memory_limit = 8;
    auto context = world.settle(world.runtime().create_context(options)).value();
    std::vector<std::string> heard;
    context.on_uncaptured_error([&](const Error& error) { heard.emplace_back(error.what()); });
    auto built = detail::submit_build(context, stress::symbolic_graph("g", 1), {"g"});
    // It was called before this one, and is over within it.
    context.push_error_scope(ErrorFilter::out_of_memory);
    rejected(ErrorKind::out_of_memory, world.settle(std::move(built)));
    const auto found = world.settle(context.pop_error_scope()).value();
    if (found) BOOST_ERROR("seed " << seed << ": a scope has " << found->what());
    world.run();
    for (const auto& error : heard) BOOST_ERROR("seed " << seed << ": the handler heard " << error);
    BOOST_TEST(context.stats().failed == 1U);
  }
}

BOOST_AUTO_TEST_CASE(scopes_work_across_lanes) {
  ContextOptions options;
  options.lanes = 3;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Server s(options, seed);
    const auto g = s.graph("g");
    std::vector<Tensor> in, out;
    for (int i = 0; i < 6; ++i) {
      in.push_back(s.tensor());
      out.push_back(s.tensor());
    }
    s.context.push_error_scope(ErrorFilter::out_of_memory);
    s.faults->fail(FaultPoint::execute, 6, {});
    for (std::size_t i = 0; i < 6; ++i) s.dispatch(g, in[i], out[i]);
    BOOST_TEST(pop(s).has_value(), "no error with seed " << seed);
  }
}

BOOST_AUTO_TEST_SUITE_END()
