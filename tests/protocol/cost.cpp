// Waiting operations do not slow others down: operations behind a lease are indexed by what they
// wait for. Measures the time of this thread, in which the whole world runs. If all waiting
// operations were looked at, the compared times would differ by a hundred times and more.
#include <ctime>

#include "tests/protocol/fixture.hpp"

using namespace polychron;
using namespace polychron::testing;

namespace {

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Seconds that `rounds` round trips take, at best of a few tries.
double round_trips(Server& s, const Tensor& tensor, int rounds = 200) {
  double best = 1e9;
  for (int attempt = 0; attempt < 5; ++attempt) {
    const auto start = thread_seconds();
    for (int i = 0; i < rounds; ++i) BOOST_REQUIRE(s.read(tensor).has_value());
    best = std::min(best, thread_seconds() - start);
  }
  return best;
}

ContextOptions roomy(int lanes) {
  ContextOptions options;
  options.lanes = lanes;
  options.max_in_flight = 1U << 20U;
  return options;
}

constexpr int many = 20000;
constexpr double flat = 5;  // times as dear at most: a hundred waiters would show

}  // namespace

BOOST_AUTO_TEST_SUITE(cost)

BOOST_AUTO_TEST_CASE(reads_behind_a_lease_do_not_slow_others_down) {
  for (const int lanes : {1, 2}) {
    Server s(roomy(lanes));
    const auto leased = s.tensor(), other = s.tensor();
    auto lease = s.world.settle(s.context.export_tensor(leased)).value();
    const auto alone = round_trips(s, other);
    std::vector<Future<Buffer>> waiting;
    for (int i = 0; i < many; ++i) waiting.push_back(s.context.read_tensor(leased));
    const auto arrival = thread_seconds();
    s.world.run();
    BOOST_TEST(thread_seconds() - arrival < flat * alone * many / 200 + 0.05);
    BOOST_TEST(round_trips(s, other) < flat * alone, lanes << " lanes");
    lease.return_now();
    s.world.run();
    for (auto& read : waiting) BOOST_REQUIRE(read.ready());
    BOOST_TEST(round_trips(s, other) < flat * alone);
  }
}

BOOST_AUTO_TEST_CASE(queries_behind_a_lease_do_not_either) {
  Server s(roomy(1));
  const auto leased = s.tensor(), other = s.tensor();
  const auto lease = s.world.settle(s.context.export_tensor(leased)).value();
  const auto alone = round_trips(s, other);
  std::vector<Future<std::optional<Error>>> waiting;
  for (int i = 0; i < many; ++i) waiting.push_back(leased.error());
  s.world.run();
  BOOST_TEST(round_trips(s, other) < flat * alone);
}

// Chains, so that each waits for the one before.
BOOST_AUTO_TEST_CASE(dispatches_behind_a_lease_do_not_either) {
  for (const int lanes : {1, 2}) {
    Server s(roomy(lanes));
    const auto g = s.graph("g");
    const auto leased = s.tensor(), a = s.tensor(), b = s.tensor(), other = s.tensor();
    auto lease = s.world.settle(s.context.export_tensor(leased)).value();
    const auto alone = round_trips(s, other);
    s.dispatch(g, leased, a);
    for (int i = 0; i < many / 2; ++i) {
      s.dispatch(g, a, b);
      s.dispatch(g, b, a);
    }
    s.world.run();
    BOOST_TEST(round_trips(s, other) < flat * alone, lanes << " lanes");
    const auto release = thread_seconds();
    lease.return_now();
    s.world.run();
    BOOST_TEST(thread_seconds() - release < 2 * flat * alone * many / 200 + 0.05,
               lanes << " lanes");
    BOOST_TEST(s.read(a).has_value());
  }
}

// After a lease, no later operation may have to look at what it held up.
BOOST_AUTO_TEST_CASE(dispatches_do_not_become_dearer_with_time) {
  Server s(roomy(2));
  const auto g = s.graph("g");
  const auto leased = s.tensor(), in = s.tensor(), out = s.tensor();
  const auto lease = s.world.settle(s.context.export_tensor(leased)).value();
  const auto burst = [&] {
    double best = 1e9;
    for (int attempt = 0; attempt < 5; ++attempt) {
      const auto start = thread_seconds();
      for (int i = 0; i < 500; ++i) s.dispatch(g, in, out);
      s.world.run();
      best = std::min(best, thread_seconds() - start);
    }
    return best;
  };
  const auto first = burst();
  for (int i = 0; i < many; ++i) {
    s.dispatch(g, in, out);
    if (i % 500 == 0) s.world.run();
  }
  BOOST_TEST(burst() < flat * first);
}

BOOST_AUTO_TEST_SUITE_END()
