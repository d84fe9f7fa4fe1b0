// Repetition leaves nothing behind: after as many more rounds the program holds no more memory. So
// no list keeps entries that nobody takes off.
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <functional>
#include <utility>

#include "tests/patience.hpp"
#include "tests/rig.hpp"
#include "tests/scarcity/scarce.hpp"

using namespace polychron;
using namespace polychron::testing;

namespace {

/// Once threads have put away what they had in hand: the same number many times over.
std::int64_t held_at_rest() {
  auto held = held_bytes();
  int looks = 0;
  comes([&] {
    const auto now = held_bytes();
    looks = std::exchange(held, now) == now ? looks + 1 : 0;
    return looks > 40;
  });
  return held;
}

/// Futures of the loss that were dropped go when there are 16: the rounds are a multiple of that.
/// `round` is done until it has what it keeps, and then as often again. A queue may grow once under
/// load, so one batch of several that leaves nothing is enough: a list that forgets grows in each.
void leaves_nothing(const char* what, const std::function<void()>& round, int rounds = 192) {
  // A list that forgets to remove an entry takes at least a pointer for it.
  const std::int64_t growth = rounds * 8;
  for (int i = 0; i < rounds; ++i) round();
  std::int64_t more = growth;
  for (int batch = 0; batch < 5 && more >= growth; ++batch) {
    const auto before = held_at_rest();
    for (int i = 0; i < rounds; ++i) round();
    more = held_at_rest() - before;
  }
  BOOST_TEST(more < growth,
             what << ": " << more << " bytes more are held after " << rounds << " rounds");
}

ContextOptions pair_of_lanes() {
  ContextOptions options;
  options.lanes = 2;
  return options;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(ledger)

BOOST_AUTO_TEST_CASE(of_requests) {
  Rig rig(pair_of_lanes());
  const auto g = rig.twice();
  const auto t = rig.tensor(), u = rig.tensor();
  leaves_nothing("requests", [&] {
    rig.write(t, 1);
    rig.dispatch(g, t, u);
    BOOST_TEST(rig.read(u) == 2.0F);
  });
  leaves_nothing("computes", [&] {
    NamedBuffers in, out;
    in.emplace_back("in", Buffer(16));
    out.emplace_back("out", Buffer(16));
    static_cast<void>(rig.context.compute(g, std::move(in), std::move(out)).get());
  });
  Cancellation cancelled;
  cancelled.cancel();
  leaves_nothing("cancelled requests", [&] {
    rig.context.write_tensor(t, std::vector<float>(4), {.cancellation = cancelled});
    BOOST_TEST(static_cast<bool>(t.error().get()));
  });
}

BOOST_AUTO_TEST_CASE(of_leases) {
  Rig rig(pair_of_lanes());
  const auto t = rig.tensor();
  leaves_nothing("leases that come back", [&] {
    auto lease = rig.context.export_tensor(t).get();
    lease.on_revoked([] {});
    lease.return_now();
    static_cast<void>(rig.read(t));
  });
  leaves_nothing("leases that are revoked", [&] {
    auto doomed = rig.tensor();
    const auto lease = rig.context.export_tensor(doomed).get();
    doomed.destroy();
    BOOST_TEST(comes([&] { return lease.revoked(); }));
  });
}

BOOST_AUTO_TEST_CASE(of_objects) {
  Rig rig(pair_of_lanes());
  leaves_nothing("tensors", [&] { static_cast<void>(rig.read(rig.tensor())); });
  leaves_nothing("constants", [&] {
    static_cast<void>(rig.context.create_constant_tensor(Rig::floats(), Buffer(16)).get());
  });
  leaves_nothing(
      "graphs",
      [&] {
        const auto g = rig.twice();
        const auto t = rig.tensor(), u = rig.tensor();
        rig.dispatch(g, t, u);
        static_cast<void>(rig.read(u));
      },
      50);
  leaves_nothing(
      "contexts",
      [&] {
        auto context = rig.runtime.create_context(pair_of_lanes()).get();
        context.destroy();
        static_cast<void>(context.lost().get());
      },
      30);
}

BOOST_AUTO_TEST_CASE(of_questions_and_errors) {
  Rig rig(pair_of_lanes());
  const auto t = rig.tensor();
  leaves_nothing("scopes", [&] {
    rig.context.push_error_scope(ErrorFilter::validation);
    BOOST_CHECK_THROW(rig.context.write_tensor(t, std::vector<float>(3)), Error);
    BOOST_TEST(rig.context.pop_error_scope().get().has_value());
  });
  leaves_nothing("questions", [&] {
    static_cast<void>(rig.context.pending().get());
    static_cast<void>(t.error().get());
    static_cast<void>(rig.context.lost());
  });
  std::atomic<int> heard{0};
  leaves_nothing("handlers", [&] {
    rig.context.on_uncaptured_error([&](const Error&) { ++heard; });
    BOOST_CHECK_THROW(rig.context.write_tensor(t, std::vector<float>(3)), Error);
    static_cast<void>(rig.context.pending().get());
  });
}

// The same Cancellation each time: a call that waits for a permit listens to it.
BOOST_AUTO_TEST_CASE(of_waits_for_a_place) {
  ContextOptions options;
  options.max_in_flight = 1;
  Rig rig(options);
  const auto t = rig.tensor();
  const Cancellation cancellation;
  leaves_nothing("waits", [&] {
    for (int i = 0; i < 4; ++i)
      rig.context.write_tensor(t, std::vector<float>(4), {.cancellation = cancellation});
    static_cast<void>(rig.read(t));
  });
  BOOST_TEST(rig.context.stats().blocked > 0U);
}

BOOST_AUTO_TEST_SUITE_END()
