// Bounds: every call that sends something takes a permit, and a call without a permit has a bound
// of its own. Clauses "load" of docs/contract.md. No actor runs between the calls, so that all of
// them are in flight at once.
#include "runtime/handles.hpp"
#include "runtime/local_port.hpp"
#include "tests/protocol/fixture.hpp"

using namespace polychron;
using namespace polychron::testing;

namespace {

constexpr std::uint64_t places = 8;
constexpr std::uint64_t control_calls = 1024;  // pending(), pops, reports: see docs/contract.md

ContextOptions refusing() {
  ContextOptions options;
  options.max_in_flight = places;
  options.admission = AdmissionPolicy::fail;
  return options;
}

/// Makes calls that nobody carries out until one is refused; all the others must have had a place,
/// and give it back.
template <class Call>
void fills_the_places(Server& s, Call call) {
  using Reply = decltype(call());
  std::vector<Reply> replies;
  for (std::uint64_t i = 0; i < places; ++i) replies.push_back(call());
  BOOST_TEST(s.context.stats().in_flight == places);
  auto refused = call();
  BOOST_REQUIRE_MESSAGE(refused.ready(), "a call beyond max_in_flight was taken");
  rejected(ErrorKind::quota_exceeded, refused.take());
  BOOST_TEST(s.context.stats().in_flight == places);
  BOOST_TEST(s.context.stats().refused == 1U);
  s.world.run();
  BOOST_TEST(s.context.stats().peak_in_flight <= places);
  for (auto& reply : replies) BOOST_TEST(static_cast<bool>(reply.take()));
  s.world.run();
  BOOST_TEST(s.context.stats().in_flight == 0U);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(bounds)

BOOST_AUTO_TEST_CASE(reads_take_places) {
  Server s(refusing());
  const auto t = s.tensor();
  fills_the_places(s, [&] { return s.context.read_tensor(t); });
}

// They ask rather than work: none waits for a place, whatever the policy, and none is without
// bound.
BOOST_AUTO_TEST_CASE(queries_are_bounded_and_never_wait) {
  for (const auto policy : {AdmissionPolicy::block, AdmissionPolicy::fail}) {
    auto options = refusing();
    options.admission = policy;
    Server s(options);
    const auto t = s.tensor();
    std::vector<Future<std::optional<Error>>> queries;
    for (std::uint64_t i = 0; i < places; ++i) queries.push_back(t.error());
    auto refused = t.error();
    BOOST_REQUIRE(refused.ready());
    rejected(ErrorKind::quota_exceeded, refused.take());
    BOOST_TEST(s.context.stats().in_flight == 0U);
    s.world.run();
    for (auto& query : queries) BOOST_TEST(!query.get().has_value());
    BOOST_TEST(!s.world.settle(t.error()).value().has_value());
  }
}

BOOST_AUTO_TEST_CASE(creations_take_places) {
  Server s(refusing());
  fills_the_places(s, [&] { return s.context.create_tensor(stress::value_descriptor); });
}

BOOST_AUTO_TEST_CASE(constants_take_places_until_they_are_made) {
  Server s(refusing());
  for (std::uint64_t i = 0; i < 4 * places; ++i) {
    static_cast<void>(s.context.create_constant_tensor(stress::value_descriptor, Buffer(8)));
    BOOST_TEST(s.context.stats().in_flight <= places);
  }
  s.world.run();
  BOOST_TEST(s.context.stats().in_flight == 0U);
}

BOOST_AUTO_TEST_CASE(exports_take_places_until_they_are_granted) {
  Server s(refusing());
  std::vector<Tensor> tensors;
  for (std::uint64_t i = 0; i <= places; ++i) tensors.push_back(s.tensor());
  std::size_t next = 0;
  fills_the_places(s, [&] { return s.context.export_tensor(tensors[next++]); });
  // A lease that is out has none.
  const auto lease = s.world.settle(s.context.export_tensor(tensors[0])).value();
  s.world.run();
  BOOST_TEST(s.context.stats().in_flight == 0U);
}

BOOST_AUTO_TEST_CASE(builds_take_places_until_they_are_built) {
  Server s(refusing());
  fills_the_places(s,
                   [&] { return detail::submit_build(s.context, graph_of_tests("g", 1), {"g"}); });
}

BOOST_AUTO_TEST_CASE(what_waits_for_a_lease_keeps_its_place) {
  Server s(refusing());
  const auto t = s.tensor(), other = s.tensor();
  auto lease = s.world.settle(s.context.export_tensor(t)).value();
  std::vector<Future<Buffer>> reads;
  for (std::uint64_t i = 0; i < places; ++i) reads.push_back(s.context.read_tensor(t));
  s.world.run();
  BOOST_TEST(s.context.stats().in_flight == places);
  rejected(ErrorKind::quota_exceeded, s.world.settle(s.context.read_tensor(other)));
  lease.return_now();
  s.world.run();
  BOOST_TEST(s.context.stats().in_flight == 0U);
  BOOST_TEST(s.read(other).has_value());
}

BOOST_AUTO_TEST_CASE(destroyed_tensors_give_the_places_back_of_what_waits_for_them) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Server s(refusing(), seed);
    auto t = s.tensor();
    const auto lease = s.world.settle(s.context.export_tensor(t)).value();
    std::vector<Future<Buffer>> reads;
    for (std::uint64_t i = 0; i < places; ++i) reads.push_back(s.context.read_tensor(t));
    for (std::uint64_t i = 0; i < seed % 20; ++i) s.world.step();
    t.destroy();
    s.world.run();
    BOOST_TEST(s.context.stats().in_flight == 0U, "seed " << seed);
  }
}

BOOST_AUTO_TEST_CASE(nothing_is_in_flight_after_the_end) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    ContextOptions options;
    options.lanes = 1 + static_cast<int>(seed % 3);
    Server s(options, seed);
    const auto g = s.graph("g");
    const auto t = s.tensor(), u = s.tensor(), v = s.tensor();
    const auto lease = s.world.settle(s.context.export_tensor(v)).value();
    for (std::uint64_t i = 0; i < 5; ++i) {
      s.write(t, i);
      s.dispatch(g, t, u);
      s.dispatch(g, v, t);  // waits
      static_cast<void>(s.context.read_tensor(u));
      static_cast<void>(u.error());
      static_cast<void>(s.context.create_tensor(stress::value_descriptor));
      static_cast<void>(detail::submit_build(s.context, graph_of_tests("h", 1), {"h"}));
    }
    for (std::uint64_t i = 0; i < seed % 60; ++i) s.world.step();
    s.context.destroy();
    s.world.run();
    BOOST_TEST(s.context.stats().in_flight == 0U, "seed " << seed);
  }
}

// -- calls that take no place ---------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(questions_about_what_is_pending_are_bounded) {
  Server s(refusing());
  std::vector<Future<std::vector<PendingOperation>>> replies;
  for (std::uint64_t i = 0; i < control_calls; ++i) replies.push_back(s.context.pending());
  auto refused = s.context.pending();
  BOOST_REQUIRE_MESSAGE(refused.ready(), "there is no bound");
  rejected(ErrorKind::quota_exceeded, refused.take());
  s.world.run();
  for (auto& reply : replies) BOOST_TEST(static_cast<bool>(reply.take()));
  BOOST_TEST(static_cast<bool>(s.world.settle(s.context.pending())));
}

BOOST_AUTO_TEST_CASE(pops_are_bounded) {
  Server s;
  std::vector<Future<std::optional<Error>>> replies;
  for (std::uint64_t i = 0; i < control_calls; ++i) replies.push_back(s.context.pop_error_scope());
  auto refused = s.context.pop_error_scope();
  BOOST_REQUIRE_MESSAGE(refused.ready(), "there is no bound");
  rejected(ErrorKind::quota_exceeded, refused.take());
  s.world.run();
  for (auto& reply : replies) rejected(ErrorKind::invalid_state, reply.take());
}

BOOST_AUTO_TEST_CASE(open_error_scopes_are_bounded) {
  Server s;
  std::uint64_t opened = 0;
  try {
    for (; opened < 4 * control_calls; ++opened) {
      s.context.push_error_scope(ErrorFilter::internal);
      s.world.run();
    }
  } catch (const Error& error) {
    BOOST_TEST((error.kind() == ErrorKind::quota_exceeded), error.what());
  }
  BOOST_TEST(opened == control_calls);
  BOOST_TEST(!s.world.settle(s.context.pop_error_scope()).value().has_value());
  s.context.push_error_scope(ErrorFilter::internal);  // there is room again
}

BOOST_AUTO_TEST_CASE(a_flood_of_refusals_is_one_report_at_a_time) {
  std::uint64_t told = 0;
  Server s(refusing());
  const auto t = s.tensor();
  s.context.on_uncaptured_error([&](const Error&) { ++told; });
  s.world.run();
  for (std::uint64_t i = 0; i < places; ++i) s.write(t, i);
  const auto refuse = [&] {
    for (int i = 0; i < 10000; ++i) thrown(ErrorKind::quota_exceeded, [&] { s.write(t, 1); });
  };
  refuse();
  const auto steps = s.world.steps();
  s.world.run();
  BOOST_TEST(told == 1U);
  BOOST_TEST(s.world.steps() - steps < 20 * places);
  BOOST_TEST(s.context.stats().refused == 10000U);
  // The next flood is reported again.
  for (std::uint64_t i = 0; i < places; ++i) s.write(t, i);
  refuse();
  s.world.run();
  BOOST_TEST(told == 2U);
}

BOOST_AUTO_TEST_CASE(reports_of_mistakes_are_bounded) {
  std::uint64_t told = 0;
  Server s;
  const auto t = s.tensor();
  s.context.on_uncaptured_error([&](const Error&) { ++told; });
  s.world.run();
  for (int i = 0; i < 10000; ++i)
    thrown(ErrorKind::type_error, [&] {
      s.context.write_tensor(t, std::vector<std::uint64_t>{1, 2});
    });
  s.world.run();
  BOOST_TEST(told >= 1U);
  BOOST_TEST(told <= control_calls);
}

// The embedder's executor takes callbacks and runs none. Errors for the handler wait there, up to
// the bound.
BOOST_AUTO_TEST_CASE(errors_on_their_way_to_the_handler_are_bounded) {
  Server s;
  std::uint64_t heard = 0;
  s.context.on_uncaptured_error([&](const Error&) { ++heard; });
  s.world.run();
  auto& door = *dynamic_cast<const detail::LocalPort&>(*detail::ContextHandle::of(s.context)->port)
                    .environment()
                    ->events;
  std::vector<msg::Permit> taken;
  while (taken.size() + 2 < door.most()) taken.push_back(door.enter());
  s.world.hold_callbacks(true);
  const auto t = s.tensor();
  s.faults->fail(FaultPoint::adopt, 1, {.permanent = true});
  for (std::uint64_t i = 0; i < 5; ++i) s.write(t, i);
  s.world.run();
  BOOST_TEST(s.context.stats().unheard == 3U);
  s.world.hold_callbacks(false);
  s.world.run();
  BOOST_TEST(heard == 2U);
  taken.clear();
  BOOST_TEST(door.in_flight() == 0U);
}

BOOST_AUTO_TEST_SUITE_END()
