// Deadlines and cancellations of writes: while the caller is blocked, and on the device timeline.
#include <thread>

#include "tests/api/fixture.hpp"
#include "tests/patience.hpp"
#include "tests/rig.hpp"

using namespace polychron;
using namespace polychron::testing;
using namespace std::chrono_literals;
using stress::FaultPoint;

namespace {

/// A context of one place, which a kernel holds until the gate opens.
struct FullContext : Rig {
  FullContext() : Rig({.max_in_flight = 1}) {
    graph = twice();
    in = tensor();
    out = tensor();
    t = tensor();
    BOOST_REQUIRE(comes([&] { return context.stats().in_flight == 0; }));
    faults->fail(FaultPoint::execute, 1, {.until = gate.latch()});
    dispatch(graph, in, out);
  }
  ~FullContext() { gate.open(); }
  Graph graph;
  Tensor in, out, t;
  Gate gate;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(write_conditions)

BOOST_AUTO_TEST_CASE(a_blocked_write_ends_at_its_deadline) {
  FullContext s;
  WriteOptions options{.label = "late"};
  options.deadline = std::chrono::steady_clock::now() + 10ms;
  throws(ErrorKind::timed_out,
         [&] { s.context.write_tensor(s.t, std::vector<float>(4, 1), options); });
  auto bytes = Buffer(16);
  options.deadline = std::chrono::steady_clock::now() + 10ms;
  throws(ErrorKind::timed_out, [&] { s.context.write_tensor(s.t, std::move(bytes), options); });
  BOOST_TEST(bytes.size() == 16U);  // the caller keeps them
  s.gate.open();
  BOOST_TEST(s.read(s.t) == 0.0F);
}

BOOST_AUTO_TEST_CASE(a_blocked_write_ends_when_it_is_cancelled) {
  FullContext s;
  const Cancellation cancellation;
  std::jthread canceller([&, cancelled = cancellation]() mutable {
    comes([&] { return s.context.stats().blocked == 1; });
    cancelled.cancel();
  });
  throws(ErrorKind::aborted, [&] {
    s.context.write_tensor(s.t, std::vector<float>(4, 1), {.cancellation = cancellation});
  });
  s.gate.open();
  BOOST_TEST(s.read(s.t) == 0.0F);
  BOOST_TEST(s.context.stats().in_flight == 0U);
}

BOOST_AUTO_TEST_CASE(a_deadline_that_never_comes_waits_like_none) {
  FullContext s;
  std::jthread opener([&] {
    comes([&] { return s.context.stats().blocked == 1; });
    s.gate.open();
  });
  WriteOptions options;
  options.deadline = std::chrono::steady_clock::time_point::max();
  s.context.write_tensor(s.t, std::vector<float>(4, 1), options);
  BOOST_TEST(s.read(s.t) == 1.0F);
}

BOOST_AUTO_TEST_CASE(a_cancellation_that_was_moved_away_is_one_still) {
  Rig rig;
  const auto t = rig.tensor();
  Cancellation source;
  const Cancellation moved = std::move(source);
  source.cancel();  // NOLINT(bugprone-use-after-move)
  BOOST_TEST(moved.cancelled());
  rig.context.write_tensor(t, std::vector<float>(4, 1), {.cancellation = source});
  rejects(ErrorKind::operation_error, rig.context.read_tensor(t));
}

BOOST_AUTO_TEST_CASE(a_direct_write_that_is_refused_has_given_its_place_back) {
  Rig rig({.admission = AdmissionPolicy::fail, .memory_limit = 24});
  const auto t = rig.tensor();
  const auto lease = rig.context.export_tensor(t, LeaseMode::fail).get();
  // Each refusal is a race between the caller and the context's thread.
  int early = 0;
  for (int i = 0; i < 5000; ++i) {
    throws(ErrorKind::invalid_state,
           [&] { rig.context.write_tensor(t, std::vector<float>(4, 1)); });
    if (rig.context.stats().in_flight != 0) ++early;
  }
  BOOST_TEST(early == 0);
}

BOOST_AUTO_TEST_CASE(a_write_that_is_late_on_the_device_is_skipped) {
  Rig rig;
  const auto t = rig.tensor();
  rig.context.write_tensor(t, std::vector<float>(4, 1),
                           {.label = "late", .deadline = std::chrono::steady_clock::now() - 1ms});
  const auto error = rig.context.read_tensor(t).take();
  BOOST_REQUIRE(!error);
  BOOST_TEST((error.error().root().kind() == ErrorKind::timed_out), error.error().what());
  rig.write(t, 2);
  BOOST_TEST(rig.read(t) == 2.0F);
}

BOOST_AUTO_TEST_CASE(a_write_that_waits_for_a_lease_can_be_cancelled) {
  Rig rig;
  const auto t = rig.tensor();
  Cancellation cancellation;
  auto lease = rig.context.export_tensor(t).get();
  rig.context.write_tensor(t, std::vector<float>(4, 1), {.cancellation = cancellation});
  cancellation.cancel();
  lease.return_now();
  const auto error = rig.context.read_tensor(t).take();
  BOOST_REQUIRE(!error);
  BOOST_TEST((error.error().root().kind() == ErrorKind::aborted), error.error().what());
}

BOOST_AUTO_TEST_SUITE_END()
