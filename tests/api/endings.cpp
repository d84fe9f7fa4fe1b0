// Endings on real threads. When a context or its runtime goes, queued work is not carried out, and
// only running work is awaited. Questions that are asked meanwhile do not wait behind it.
#include "tests/api/fixture.hpp"
#include "tests/patience.hpp"
#include "tests/rig.hpp"

using namespace polychron;
using namespace polychron::testing;
using stress::FaultPoint;

namespace {

constexpr std::uint64_t queued = 400;

/// A context whose first kernel runs until the gate opens, with a queue behind it.
struct Stalled : Rig {
  explicit Stalled(const ContextOptions& options = {}) : Rig(options) {
    graph = twice();
    in = tensor();
    out = tensor();
    faults->fail(FaultPoint::execute, 1, {.until = gate.latch()});
    for (std::uint64_t i = 0; i <= queued; ++i) dispatch(graph, in, out);
    BOOST_REQUIRE(comes([&] { return executed() == 1; }));
  }
  ~Stalled() { gate.open(); }
  std::uint64_t executed() const { return faults->calls(FaultPoint::execute); }

  Graph graph;
  Tensor in, out;
  Gate gate;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(endings)

BOOST_AUTO_TEST_CASE(destroying_a_context_drops_what_is_queued) {
  Stalled s;
  auto read = s.context.read_tensor(s.out);
  s.context.destroy();
  refuses(ErrorKind::invalid_state, std::move(read));  // the kernel still runs
  s.gate.open();
  BOOST_TEST(s.runtime.shutdown().empty());
  BOOST_TEST(s.executed() == 1U);
  BOOST_TEST(s.context.stats().in_flight == 0U);
  BOOST_TEST(s.context.stats().bytes == 0U);
}

BOOST_AUTO_TEST_CASE(what_was_just_asked_is_answered_while_a_kernel_runs) {
  // Each reply is a race: its object's actor hears of what it owes, or that it is over.
  const int rounds = device_of_tests() == "cpu" ? 300 : 30;  // others open a device in each
  for (int round = 0; round < rounds; ++round) {
    Rig rig;
    Gate gate;
    const auto graph = rig.twice();
    const auto in = rig.tensor(), out = rig.tensor();
    rig.faults->fail(FaultPoint::execute, 1, {.until = gate.latch()});
    rig.dispatch(graph, in, out);
    BOOST_REQUIRE(comes([&] { return rig.faults->calls(FaultPoint::execute) == 1; }));
    NamedBuffers inputs, outputs;
    inputs.emplace_back("in", Buffer(16));
    outputs.emplace_back("out", Buffer(16));
    auto compute = rig.context.compute(graph, std::move(inputs), std::move(outputs));
    auto read = rig.context.read_tensor(out);
    // Long enough that the context may have sent them on, in some rounds.
    const auto until = std::chrono::steady_clock::now() + std::chrono::nanoseconds(200 * round);
    while (std::chrono::steady_clock::now() < until) {
    }
    rig.context.destroy();
    refuses(ErrorKind::invalid_state, std::move(read));
    BOOST_REQUIRE(reply(std::move(compute)));
  }
}

BOOST_AUTO_TEST_CASE(shutting_down_drops_what_is_queued) {
  Stalled s;
  auto read = s.context.read_tensor(s.out);
  BOOST_TEST(!s.runtime.shutdown(std::chrono::nanoseconds(0)).empty());
  refuses(ErrorKind::invalid_state, std::move(read));
  s.gate.open();
  BOOST_TEST(s.runtime.shutdown().empty());
  BOOST_TEST(s.executed() == 1U);
}

BOOST_AUTO_TEST_CASE(dropping_the_runtime_drops_what_is_queued) {
  Stalled s;
  auto lost = s.context.lost();
  std::jthread opener([&] {
    comes([&] { return lost.ready(); });  // the end has begun
    s.gate.open();
  });
  s.runtime = Runtime();
  BOOST_TEST(s.executed() == 1U);
}

BOOST_AUTO_TEST_CASE(a_lost_device_drops_what_is_queued) {
  Rig rig;
  Gate gate;
  const auto g = rig.twice();
  const auto in = rig.tensor(), out = rig.tensor();
  rig.faults->fail(FaultPoint::execute, 1,
                   {.kind = ErrorKind::context_lost, .until = gate.latch()});
  for (std::uint64_t i = 0; i < queued; ++i) rig.dispatch(g, in, out);
  auto read = rig.context.read_tensor(out);
  gate.open();
  refuses(ErrorKind::context_lost, std::move(read));
  BOOST_TEST(rig.runtime.shutdown().empty());
  BOOST_TEST(rig.faults->calls(FaultPoint::execute) == 1U);
  BOOST_TEST(rig.context.stats().in_flight == 0U);
}

BOOST_AUTO_TEST_CASE(queued_builds_are_dropped) {
  Rig rig;
  Gate gate;
  rig.faults->fail(FaultPoint::compile, 1, {.until = gate.latch()});
  std::vector<Future<Graph>> builds;
  for (int i = 0; i < 20; ++i) builds.push_back(rig.build());
  BOOST_REQUIRE(comes([&] { return rig.faults->calls(FaultPoint::compile) == 1; }));
  rig.context.destroy();
  for (std::size_t i = 1; i < builds.size(); ++i)
    refuses(ErrorKind::invalid_state, std::move(builds[i]));
  gate.open();
  refuses(ErrorKind::invalid_state, std::move(builds[0]));
  BOOST_TEST(rig.runtime.shutdown().empty());
  BOOST_TEST(rig.faults->calls(FaultPoint::compile) == 1U);
  BOOST_TEST(rig.context.stats().in_flight == 0U);
}

// -- meanwhile ------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(pending_lists_what_is_queued_at_the_lane) {
  Stalled s;
  // The context's actor answers this after it has sent all of them on.
  refuses(ErrorKind::invalid_state, s.context.pop_error_scope());
  auto asked = s.context.pending();
  s.gate.open();
  const auto pending = reply(std::move(asked));
  BOOST_REQUIRE(pending);
  const auto ran = s.executed();
  BOOST_TEST(pending.value().size() + ran >= queued);
  for (const auto& operation : pending.value()) {
    BOOST_TEST(operation.operation == "dispatch");
    BOOST_TEST(operation.ticket > 0U);
  }
}

BOOST_AUTO_TEST_CASE(pending_of_a_context_that_goes_is_rejected_or_whole) {
  Stalled s;
  auto asked = s.context.pending();
  s.context.destroy();
  s.gate.open();
  const auto pending = reply(std::move(asked));
  if (!pending)
    BOOST_TEST((pending.error().kind() == ErrorKind::invalid_state), pending.error().what());
  else
    BOOST_TEST(pending.value().size() >= queued);
}

BOOST_AUTO_TEST_SUITE_END()
