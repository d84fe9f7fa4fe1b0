// Admission, deadlines, cancellation, statistics: clauses "load" of docs/contract.md.
#include "observe/stress/run.hpp"
#include "observe/stress/strategies.hpp"
#include "tests/protocol/fixture.hpp"

using namespace polychron;
using namespace polychron::testing;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(load)

BOOST_AUTO_TEST_CASE(at_the_limit_a_call_fails_with_quota_exceeded_if_so_configured) {
  ContextOptions options;
  options.max_in_flight = 3;
  options.admission = AdmissionPolicy::fail;
  Server s(options);
  const auto t = s.tensor();
  for (std::uint64_t i = 0; i < 3; ++i) s.write(t, i);
  const auto error = thrown(ErrorKind::quota_exceeded, [&] { s.write(t, 4); });
  BOOST_TEST(mentions(error, "3 operations in flight"));
  rejected(ErrorKind::quota_exceeded, s.world.settle(s.context.read_tensor(t)));
  s.world.run();
  s.write(t, 5);
  BOOST_TEST(s.read(t).value() == 5U);
  const auto stats = s.context.stats();
  BOOST_TEST(stats.refused == 2U);
  BOOST_TEST(stats.in_flight == 0U);
  BOOST_TEST(stats.writes == 4U);
}

BOOST_AUTO_TEST_CASE(writes_in_flight_count_against_the_memory_limit) {
  ContextOptions options;
  options.memory_limit = 24;
  options.admission = AdmissionPolicy::fail;
  Server s(options);
  const auto t = s.tensor();
  s.write(t, 1);
  s.write(t, 2);
  thrown(ErrorKind::quota_exceeded, [&] { s.write(t, 3); });
  s.world.run();
  s.write(t, 4);
  BOOST_TEST(s.read(t).value() == 4U);
  BOOST_TEST(s.context.stats().bytes == 8U);
}

// The caller waits with its bytes in its hands, and its write waits for a lease.
BOOST_AUTO_TEST_CASE(a_write_without_room_for_its_copy_hears_of_the_end_wherever_it_waits) {
  struct Destroyer final : stress::Client {
    explicit Destroyer(Context c) : context(std::move(c)) {}
    bool ready() const override { return static_cast<bool>(context); }
    void step() override { std::exchange(context, {}).destroy(); }
    Context context;
  };
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    ContextOptions options;
    options.memory_limit = 8;
    Server s(options, seed);
    const auto t = s.tensor();
    const auto lease = s.world.settle(s.context.export_tensor(t)).value();
    Destroyer destroyer(s.context);
    s.world.set_clients({&destroyer});
    const auto error = thrown(ErrorKind::invalid_state, [&] { s.write(t, 1, "late"); });
    BOOST_TEST(mentions(error, "late"), error.what());
    s.world.set_clients({});
  }
}

BOOST_AUTO_TEST_CASE(a_tensor_of_more_than_half_the_memory_limit_can_be_written) {
  for (const auto policy : {AdmissionPolicy::block, AdmissionPolicy::fail})
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
      ContextOptions options;
      options.memory_limit = 8;
      options.admission = policy;
      Server s(options, seed);
      const auto t = s.tensor();
      s.write(t, 1);
      s.world.run();
      const std::vector<std::uint64_t> two{2};
      s.context.write_tensor(t, Buffer::copy_of(std::span(two)));
      BOOST_TEST(s.read(t).value() == 2U, "seed " << seed);
      BOOST_TEST(s.context.stats().peak_bytes == 8U, "seed " << seed);
    }
}

BOOST_AUTO_TEST_CASE(a_dispatch_past_its_deadline_is_skipped_and_its_outputs_are_errored) {
  Server s;
  const auto g = s.graph("g");
  const auto in = s.tensor(), out = s.tensor();
  s.dispatch(g, in, out, {.label = "late", .deadline = s.world.now() + 5ms});
  s.world.advance(6ms);
  const auto error = rejected(ErrorKind::operation_error, s.read(out));
  BOOST_TEST(mentions(error, "dispatch 'late'"));
  BOOST_TEST((error.root().kind() == ErrorKind::timed_out));
  s.dispatch(g, in, out, {.deadline = s.world.now() + 5ms});
  BOOST_TEST(s.read(out).has_value());
  BOOST_TEST(s.context.stats().not_run >= 1U);
}

BOOST_AUTO_TEST_CASE(a_cancelled_dispatch_is_skipped_and_a_started_one_is_not) {
  Server s;
  const auto g = s.graph("g");
  const auto in = s.tensor(), out = s.tensor();
  Cancellation cancellation;
  s.dispatch(g, in, out, {.cancellation = cancellation});
  s.world.run();
  cancellation.cancel();
  BOOST_TEST(s.read(out).has_value());
  s.dispatch(g, in, out, {.cancellation = cancellation});
  const auto error = rejected(ErrorKind::operation_error, s.read(out));
  BOOST_TEST((error.root().kind() == ErrorKind::aborted));
}

BOOST_AUTO_TEST_CASE(stats_count_what_was_called_and_what_became_of_it) {
  Server s;
  const auto g = s.graph("g");
  const auto in = s.tensor(), a = s.tensor(), b = s.tensor();
  s.write(in, 1);
  s.faults->fail(FaultPoint::execute, 1, {});
  s.dispatch(g, in, a);
  s.dispatch(g, a, b);
  static_cast<void>(s.read(in));
  s.world.run();
  const auto stats = s.context.stats();
  BOOST_TEST(stats.writes == 1U);
  BOOST_TEST(stats.dispatches == 2U);
  BOOST_TEST(stats.reads == 1U);
  BOOST_TEST(stats.completed == 2U);
  BOOST_TEST(stats.failed == 1U);
  BOOST_TEST(stats.not_run == 1U);
  BOOST_TEST(stats.in_flight == 0U);
  BOOST_TEST(stats.tensors == 3U);
  BOOST_TEST(stats.graphs == 1U);
}

// The last that a lane does before it has nothing to do may be an answer to another lane.
BOOST_AUTO_TEST_CASE(who_waits_for_a_place_is_woken_by_whatever_the_lane_does_last) {
  using stress::Kind;
  const stress::Program program{.lanes = 2,
                                .max_in_flight = 3,
                                .interrupts = true,
                                .tensors = 2,
                                .clients = {{{.kind = Kind::lend, .tensor = 0},
                                             {.kind = Kind::write, .tensor = 1, .value = 1},
                                             {.kind = Kind::dispatch, .tensor = 1, .inputs = {0}},
                                             {.kind = Kind::write, .tensor = 0, .value = 2},
                                             {.kind = Kind::write, .tensor = 0, .value = 3}}}};
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    stress::RandomStrategy strategy(seed);
    const auto finding = stress::run(program, strategy).finding;
    BOOST_REQUIRE_MESSAGE(!finding, "seed " << seed << ": " << finding.value_or(""));
  }
}

BOOST_AUTO_TEST_SUITE_END()
