// Leases and constants have one owner. Returned memory is the tensor's only memory, a refused
// return leaves the tensor alone, and constant tensors are tensors: clauses "leases" of
// docs/contract.md.
#include <cstring>

#include "tests/protocol/rent.hpp"

using namespace polychron;
using namespace polychron::testing;

namespace {
ContextOptions limited(std::uint64_t bytes) {
  ContextOptions options;
  options.memory_limit = bytes;
  return options;
}
}  // namespace

BOOST_AUTO_TEST_SUITE(ownership)

BOOST_AUTO_TEST_CASE(a_returned_lease_leaves_one_tensors_bytes) {
  if (needs_the_processor("its graphs have constants, which count too")) return;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Server s({}, seed);
    const auto g = s.graph("g");
    const auto t = s.tensor(), out = s.tensor();
    for (std::uint64_t round = 1; round <= 3; ++round) {
      auto lease = rent(s, t);
      set(lease, round);
      lease.return_now();
      s.world.run();
      BOOST_TEST(s.context.stats().bytes == 16U, "after the return, seed " << seed);
      s.dispatch(g, t, out);
      BOOST_TEST(s.read(out).value() == Server::result("g", round));
      s.write(t, 50 + round);
      s.world.run();
      BOOST_TEST(s.context.stats().bytes == 16U, "after a write, seed " << seed);
      BOOST_TEST(s.read(t).value() == 50 + round);
    }
  }
}

BOOST_AUTO_TEST_CASE(under_a_limit_writes_go_on_after_a_lease) {
  Server s(limited(20));  // a tensor and a write in flight, and a little more
  const auto t = s.tensor();
  rent(s, t).return_now();
  for (std::uint64_t i = 1; i <= 5; ++i) {
    s.write(t, i);
    BOOST_TEST(s.read(t).value() == i);
  }
}

BOOST_AUTO_TEST_CASE(a_refused_write_leaves_the_holders_data_alone) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    std::vector<Error> seen;
    Server s({}, seed);
    s.context.on_uncaptured_error([&](const Error& error) { seen.push_back(error); });
    const auto t = s.tensor("t");
    auto lease = rent(s, t, LeaseMode::fail);
    set(lease, 5);
    s.write(t, 9, "somebody else's");
    s.world.run();
    BOOST_TEST(s.context.stats().in_flight == 0U, "it took a place");
    BOOST_REQUIRE_EQUAL(seen.size(), 1U);
    BOOST_TEST((seen[0].root().kind() == ErrorKind::invalid_state));
    lease.return_now();
    BOOST_TEST(s.read(t).value() == 5U);
  }
}

BOOST_AUTO_TEST_CASE(a_scope_hears_of_a_refused_write) {
  Server s;
  const auto t = s.tensor("t");
  const auto lease = rent(s, t, LeaseMode::fail);
  s.context.push_error_scope(ErrorFilter::validation);
  s.write(t, 9);
  const auto error = s.world.settle(s.context.pop_error_scope()).value();
  BOOST_REQUIRE(error.has_value());
  BOOST_TEST(mentions(*error, "tensor 't'"));
  BOOST_TEST(mentions(*error, "lease"));
}

BOOST_AUTO_TEST_CASE(a_refused_dispatch_leaves_its_leased_output_alone) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Server s({}, seed);
    const auto g = s.graph("g");
    const auto in = s.tensor(), t = s.tensor("t");
    auto lease = rent(s, t, LeaseMode::fail);
    set(lease, 5);
    s.dispatch(g, in, t);
    s.world.run();
    BOOST_TEST(s.context.stats().in_flight == 0U);
    lease.return_now();
    BOOST_TEST(s.read(t).value() == 5U);
  }
}

BOOST_AUTO_TEST_CASE(a_refused_dispatchs_other_outputs_are_errored) {
  Server s;
  const auto g = s.graph("g", 2);
  const auto in = s.tensor(), t = s.tensor("t"), out = s.tensor();
  const auto lease = rent(s, t, LeaseMode::fail);
  s.context.dispatch(g, {{"in0", in}, {"in1", t}}, {{"out", out}}, {.label = "refused"});
  const auto error = rejected(ErrorKind::operation_error, s.read(out));
  BOOST_TEST(mentions(error, "'refused'"));
  BOOST_TEST((error.root().kind() == ErrorKind::invalid_state));
}

BOOST_AUTO_TEST_CASE(the_error_of_what_is_on_lease_in_mode_fail_is_refused) {
  Server s;
  const auto t = s.tensor("t");
  auto lease = rent(s, t, LeaseMode::fail);
  auto query = t.error();
  s.world.run();
  BOOST_REQUIRE(query.ready());
  rejected(ErrorKind::invalid_state, query.take());
  lease.return_now();
  BOOST_TEST(!s.world.settle(t.error()).value().has_value());
}

// -- error scopes and leases ----------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(a_scope_does_not_wait_for_leases_older_than_it) {
  for (const int lanes : {1, 3}) {
    ContextOptions options;
    options.lanes = lanes;
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
      Server s(options, seed);
      const auto g = s.graph("g");
      const auto leased = s.tensor(), behind = s.tensor(), other = s.tensor();
      const auto lease = rent(s, leased);
      s.dispatch(g, leased, behind);
      s.context.push_error_scope(ErrorFilter::internal);
      s.write(other, 1);
      auto popped = s.context.pop_error_scope();
      s.world.run();
      BOOST_REQUIRE_MESSAGE(popped.ready(), "seed " << seed);
      BOOST_TEST(!popped.take().value().has_value());
    }
  }
}

BOOST_AUTO_TEST_CASE(a_scope_waits_for_what_was_called_in_it) {
  Server s;
  const auto g = s.graph("g");
  const auto leased = s.tensor(), out = s.tensor(), granted = s.tensor();
  auto lease = rent(s, leased);
  s.context.push_error_scope(ErrorFilter::out_of_memory);
  const auto inner = rent(s, granted);  // done when it is granted
  s.faults->fail(FaultPoint::execute, 1, {});
  s.dispatch(g, leased, out, {.label = "late"});
  auto popped = s.context.pop_error_scope();
  s.world.run();
  BOOST_TEST(!popped.ready());
  lease.return_now();
  const auto error = s.world.settle(std::move(popped)).value();
  BOOST_REQUIRE(error.has_value());
  BOOST_TEST(mentions(*error, "'late'"));
}

// -- constant tensors -----------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(constant_tensors_are_counted) {
  Server s;
  {
    const auto c =
        s.world.settle(s.context.create_constant_tensor(stress::value_descriptor, Buffer(8)))
            .value();
    s.world.run();
    BOOST_TEST(s.context.stats().tensors == 1U);
    BOOST_TEST(s.context.stats().bytes == 8U);
  }
  s.world.run();
  BOOST_TEST(s.context.stats().tensors == 0U);
  BOOST_TEST(s.context.stats().bytes == 0U);
}

BOOST_AUTO_TEST_CASE(constant_tensors_keep_to_the_memory_limit) {
  Server s(limited(24));
  const auto make = [&] {
    return s.world.settle(s.context.create_constant_tensor(stress::value_descriptor, Buffer(8)));
  };
  auto a = make(), b = make(), c = make();
  BOOST_TEST((a && b && c));
  rejected(ErrorKind::out_of_memory, make());
  rejected(ErrorKind::out_of_memory,
           s.world.settle(s.context.create_tensor(stress::value_descriptor)));
  a.value().destroy();
  s.world.run();
  BOOST_TEST(static_cast<bool>(make()));
  BOOST_TEST(s.context.stats().bytes <= 24U);
}

BOOST_AUTO_TEST_CASE(constant_tensors_go_with_their_context) {
  Server s;
  const auto c =
      s.world.settle(s.context.create_constant_tensor(stress::value_descriptor, Buffer(8))).value();
  s.context.destroy();
  s.world.run();
  BOOST_TEST(s.context.stats().bytes == 0U);
  BOOST_TEST(s.context.stats().tensors == 0U);
  BOOST_TEST(s.world.registry().present().empty());
}

BOOST_AUTO_TEST_SUITE_END()
