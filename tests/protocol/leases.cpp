// Renting a tensor's memory out: clauses "leases" of docs/contract.md.
#include <cstring>

#include "tests/protocol/rent.hpp"

using namespace polychron;
using namespace polychron::testing;

namespace {
std::uint64_t value_of(const TensorLease& lease) {
  std::uint64_t value = 0;
  std::memcpy(&value, lease.bytes().data(), sizeof value);
  return value;
}
}  // namespace

BOOST_AUTO_TEST_SUITE(leases)

BOOST_AUTO_TEST_CASE(a_lease_sees_what_was_called_before_and_is_seen_by_what_comes_after) {
  Server s;
  const auto t = s.tensor();
  s.write(t, 3);
  auto lease = rent(s, t);
  BOOST_TEST(value_of(lease) == 3U);
  auto read = s.context.read_tensor(t);
  s.world.run();
  BOOST_TEST(!read.ready());
  set(lease, 4);
  lease.return_now();
  BOOST_TEST(s.world.settle(std::move(read)).value().to_vector<std::uint64_t>()[0] == 4U);
  thrown(ErrorKind::invalid_state, [&] { static_cast<void>(lease.bytes()); });
}

BOOST_AUTO_TEST_CASE(what_depends_on_a_leased_tensor_waits_in_order_and_the_rest_goes_on) {
  Server s;
  const auto g = s.graph("g");
  const auto leased = s.tensor("leased"), next = s.tensor("next"), last = s.tensor("last"),
             other = s.tensor("other"), apart = s.tensor("apart");
  s.write(other, 7);
  auto lease = rent(s, leased);
  s.dispatch(g, leased, next, {.label = "one"});
  s.dispatch(g, next, last, {.label = "two"});
  auto waiting = s.context.read_tensor(last);
  s.dispatch(g, other, apart);
  BOOST_TEST(s.read(apart).value() == Server::result("g", 7));
  BOOST_TEST(!waiting.ready());

  const auto pending = s.world.settle(s.context.pending()).value();
  BOOST_REQUIRE(pending.size() == 4U);
  BOOST_TEST(pending[0].operation == "export");
  BOOST_TEST(pending[0].waits_for == "the end of the lease");
  BOOST_TEST(pending[1].label == "one");
  BOOST_TEST(pending[1].waits_for.find("tensor 'leased'") != std::string::npos);
  BOOST_TEST(pending[2].waits_for.find("dispatch (ticket") != std::string::npos);

  set(lease, 11);
  lease.return_now();
  const auto expected = Server::result("g", Server::result("g", 11));
  BOOST_TEST(s.world.settle(std::move(waiting)).value().to_vector<std::uint64_t>()[0] == expected);
  BOOST_TEST(s.world.settle(s.context.pending()).value().empty());
}

BOOST_AUTO_TEST_CASE(in_fail_mode_operations_fail_and_their_outputs_are_errored) {
  Server s;
  const auto g = s.graph("g");
  const auto leased = s.tensor("leased"), out = s.tensor("out");
  auto lease = rent(s, leased, LeaseMode::fail);
  s.dispatch(g, leased, out, {.label = "foo"});
  rejected(ErrorKind::invalid_state, s.world.settle(s.context.read_tensor(leased)));
  rejected(ErrorKind::invalid_state, s.world.settle(s.context.export_tensor(leased)));
  const auto error = rejected(ErrorKind::operation_error, s.read(out));
  BOOST_TEST(mentions(error, "'foo'"));
  BOOST_TEST(mentions(error, "on lease"));
  lease.return_now();
  s.dispatch(g, leased, out);
  BOOST_TEST(s.read(out).has_value());
}

BOOST_AUTO_TEST_CASE(leases_of_one_tensor_take_turns) {
  Server s;
  const auto t = s.tensor();
  auto first = rent(s, t);
  auto second = s.context.export_tensor(t);
  s.world.run();
  BOOST_TEST(!second.ready());
  set(first, 21);
  first.return_now();
  BOOST_TEST(value_of(s.world.settle(std::move(second)).value()) == 21U);
}

BOOST_AUTO_TEST_CASE(destroying_the_tensor_revokes_the_lease_and_keeps_its_memory) {
  Server s;
  auto t = s.tensor();
  s.write(t, 5);
  auto lease = rent(s, t);
  bool told = false;
  lease.on_revoked([&] { told = true; });
  t.destroy();
  s.world.run();
  BOOST_TEST(told);
  BOOST_TEST(lease.revoked());
  BOOST_TEST(value_of(lease) == 5U);
  set(lease, 6);
  BOOST_TEST(s.context.stats().bytes == 8U);  // what the holder still has counts
  lease.return_now();
  s.world.run();
  BOOST_TEST(s.context.stats().bytes == 0U);
}

// A read that waits for the lease is rejected, and sees nothing of what the holder wrote.
BOOST_AUTO_TEST_CASE(destroying_the_tensor_rejects_reads_behind_a_lease) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Server s({}, seed);
    auto t = s.tensor("t");
    const auto lease = s.world.settle(s.context.export_tensor(t)).value();
    auto read = s.context.read_tensor(t);
    for (std::uint64_t i = 0; i < seed % 7; ++i) s.world.step();
    t.destroy();
    s.world.run();
    BOOST_TEST(lease.revoked());
    BOOST_TEST(mentions(rejected(ErrorKind::invalid_state, read.take()), "tensor 't'"),
               "seed " << seed);
  }
}

BOOST_AUTO_TEST_CASE(losing_the_context_revokes_leases) {
  Server s;
  const auto t = s.tensor();
  auto lease = rent(s, t);
  s.context.destroy();
  s.world.run();
  BOOST_TEST(lease.revoked());
  set(lease, 1);
  BOOST_TEST(value_of(lease) == 1U);
}

BOOST_AUTO_TEST_CASE(an_errored_tensor_cannot_be_rented) {
  Server s;
  const auto t = s.tensor();
  s.faults->fail(FaultPoint::adopt, 1, {});
  s.write(t, 1, "bad");
  const auto error =
      rejected(ErrorKind::operation_error, s.world.settle(s.context.export_tensor(t)));
  BOOST_TEST(mentions(error, "'bad'"));
  s.write(t, 2);
  BOOST_TEST(s.read(t).value() == 2U);
}

BOOST_AUTO_TEST_CASE(a_lease_holds_up_dependent_work_on_other_lanes_too) {
  ContextOptions options;
  options.lanes = 3;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Server s(options, seed);
    const auto g = s.graph("g");
    const auto leased = s.tensor(), out = s.tensor(), free_in = s.tensor(), free_out = s.tensor();
    auto lease = rent(s, leased);
    s.dispatch(g, leased, out);
    auto read = s.context.read_tensor(out);
    s.dispatch(g, free_in, free_out);
    BOOST_TEST(s.read(free_out).value() == Server::result("g", 0), "seed " << seed);
    BOOST_TEST(!read.ready(), "seed " << seed);
    set(lease, 2);
    lease.return_now();
    const auto value = s.world.settle(std::move(read)).value().to_vector<std::uint64_t>()[0];
    BOOST_TEST(value == Server::result("g", 2), "seed " << seed);
  }
}

BOOST_AUTO_TEST_SUITE_END()
