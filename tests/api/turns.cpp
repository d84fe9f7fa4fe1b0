// The order in which waiting callers get a free permit: clauses "load" of docs/contract.md, on real
// threads. Kernels that a test holds up, and leases, keep the permits.
#include <array>
#include <atomic>
#include <thread>

#include "tests/api/fixture.hpp"
#include "tests/patience.hpp"
#include "tests/rig.hpp"

using namespace polychron;
using namespace polychron::testing;
using namespace std::chrono_literals;
using stress::FaultPoint;

namespace {

struct Busy : Rig {
  explicit Busy(std::uint64_t most) : Rig({.max_in_flight = most}) {
    graph = twice();
    for (auto* t : {&in, &out, &other, &leased}) *t = tensor();
    for (auto& result : results) result = tensor();
    lease = context.export_tensor(leased).get();
    BOOST_REQUIRE(comes([&] { return context.stats().in_flight == 0; }));
    faults->fail(FaultPoint::execute, 1, {.until = first.latch()});
    faults->fail(FaultPoint::execute, 2, {.until = second.latch()});
  }
  ~Busy() {
    first.open();
    second.open();
    lease.return_now();
  }

  Graph graph;
  Tensor in, out, other, leased;
  std::array<Tensor, 3> results;
  TensorLease lease;
  Gate first, second;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(turns)

BOOST_AUTO_TEST_CASE(nobody_passes_those_who_wait) {
  Busy s(8);
  for (int i = 0; i < 8; ++i) s.dispatch(s.graph, s.in, s.out);
  std::atomic<bool> in{false};
  std::jthread waiter([&] {
    s.write(s.other, 1);
    in = true;
  });
  BOOST_REQUIRE(comes([&] { return s.context.stats().blocked == 1; }));
  // One permit is free, and the lane is too busy to see the waiting callers.
  s.first.open();
  BOOST_REQUIRE(comes([&] { return s.faults->calls(FaultPoint::execute) == 2; }));
  throws(ErrorKind::timed_out, [&] {
    WriteOptions options;
    options.deadline = std::chrono::steady_clock::now() + 20ms;
    s.context.write_tensor(s.other, std::vector<float>(4, 2), options);
  });
  BOOST_TEST(comes([&] { return in.load(); }));
  s.second.open();
  BOOST_TEST(s.read(s.other) == 1.0F);
}

BOOST_AUTO_TEST_CASE(a_lane_whose_rest_waits_for_a_lease_lets_others_in) {
  Busy s(4);
  s.dispatch(s.graph, s.in, s.out);
  for (const auto& result : s.results) s.dispatch(s.graph, s.leased, result);
  std::atomic<bool> in{false};
  std::jthread waiter([&] {
    s.write(s.other, 1);
    in = true;
  });
  BOOST_REQUIRE(comes([&] { return s.context.stats().blocked == 1; }));
  // The first ends while the others are in the mail: fewer than half of the places are free.
  s.first.open();
  BOOST_TEST(comes([&] { return in.load(); }), "one of four places is free, and nobody gets it");
  s.second.open();
}

BOOST_AUTO_TEST_SUITE_END()
