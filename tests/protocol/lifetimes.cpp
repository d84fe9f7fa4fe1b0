// Destruction (WebNN issue 716): clauses "lifetimes" of docs/contract.md.
#include "tests/protocol/fixture.hpp"

using namespace polychron;
using namespace polychron::testing;

namespace {
/// A reply that races with a destruction. It must come: a value, if the schedule let it come first,
/// or invalid_state.
template <class T>
void settled(Future<T>& future) {
  BOOST_REQUIRE(future.ready());
  const auto result = future.take();
  BOOST_TEST((result || result.error().kind() == ErrorKind::invalid_state));
}
}  // namespace

BOOST_AUTO_TEST_SUITE(lifetimes)

BOOST_AUTO_TEST_CASE(destroying_a_tensor_rejects_all_its_pending_reads) {
  Server s;
  auto t = s.tensor("t");
  s.write(t, 1);
  auto first = s.context.read_tensor(t), second = s.context.read_tensor(t);
  t.destroy();
  t.destroy();
  s.world.run();
  // Under this schedule or another the device may have answered first; never with anything else.
  for (auto* read : {&first, &second}) {
    auto result = read->take();
    if (!result) BOOST_TEST(mentions(rejected(ErrorKind::invalid_state, result), "tensor 't'"));
  }
  rejected(ErrorKind::invalid_state, s.world.settle(s.context.read_tensor(t)));
  thrown(ErrorKind::invalid_state, [&] { s.write(t, 2); });
}

BOOST_AUTO_TEST_CASE(pending_reads_reject_before_the_device_has_come_to_them) {
  // Under every schedule in which the destruction overtakes the read's way back.
  std::size_t rejections = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Server s({}, seed);
    auto t = s.tensor();
    auto read = s.context.read_tensor(t);
    t.destroy();
    s.world.run();
    BOOST_REQUIRE(read.ready());
    if (!read.take()) ++rejections;
  }
  BOOST_TEST_MESSAGE(rejections << " of 200 schedules reject");
  BOOST_TEST(rejections > 0U);
}

BOOST_AUTO_TEST_CASE(memory_returns_after_work_in_flight) {
  if (needs_the_processor("its graphs have constants, which count too")) return;
  Server s;
  const auto g = s.graph("g");
  const auto before = s.context.stats().bytes;
  auto in = s.tensor(), out = s.tensor();
  BOOST_TEST(s.context.stats().bytes == before + 16);
  s.write(in, 4);
  s.dispatch(g, in, out);
  in.destroy();  // the dispatch still sees it
  BOOST_TEST(s.read(out).value() == Server::result("g", 4));
  s.world.run();
  BOOST_TEST(s.context.stats().bytes == before + 8);
  out.destroy();
  s.world.run();
  BOOST_TEST(s.context.stats().bytes == before);
  BOOST_TEST(s.context.stats().peak_bytes >= before + 16);
  BOOST_TEST(s.context.stats().tensors == 0U);
}

BOOST_AUTO_TEST_CASE(dropping_the_last_handle_destroys) {
  Server s;
  const auto before = s.context.stats().bytes;
  {
    const auto t = s.tensor();
    const auto same = t;
    BOOST_TEST(s.context.stats().tensors == 1U);
  }
  s.world.run();
  BOOST_TEST(s.context.stats().bytes == before);
  BOOST_TEST(s.context.stats().tensors == 0U);
}

BOOST_AUTO_TEST_CASE(a_destroyed_graph_refuses_dispatches_and_finishes_earlier_ones) {
  Server s;
  auto g = s.graph("g");
  const auto in = s.tensor(), out = s.tensor();
  s.write(in, 9);
  s.dispatch(g, in, out);
  g.destroy();
  g.destroy();
  thrown(ErrorKind::invalid_state, [&] { s.dispatch(g, in, out); });
  BOOST_TEST(s.read(out).value() == Server::result("g", 9));
  s.world.run();
  BOOST_TEST(s.context.stats().graphs == 0U);
}

BOOST_AUTO_TEST_CASE(destroying_a_context_rejects_everything_and_resolves_lost_once) {
  Server s;
  const auto g = s.graph("g");
  auto t = s.tensor();
  auto lost = s.context.lost();
  auto read = s.context.read_tensor(t);
  auto created = s.context.create_tensor(stress::value_descriptor);
  auto built = detail::submit_build(s.context, graph_of_tests("h", 1), {"h"});
  auto rented = s.context.export_tensor(t);
  s.context.destroy();
  s.context.destroy();
  BOOST_REQUIRE(lost.ready());
  BOOST_TEST((lost.get().reason == LostReason::destroyed));
  BOOST_TEST((s.context.lost().get().reason == LostReason::destroyed));
  s.world.run();
  settled(read);
  settled(created);
  settled(built);
  settled(rented);
  thrown(ErrorKind::invalid_state, [&] { s.write(t, 1); });
  thrown(ErrorKind::invalid_state, [&] { s.dispatch(g, t, t); });
  rejected(ErrorKind::invalid_state, s.world.settle(s.context.read_tensor(t)));
  BOOST_TEST(s.context.stats().bytes == 0U);
  BOOST_TEST(s.world.registry().present().empty());
}

BOOST_AUTO_TEST_CASE(unanswered_calls_reject_with_the_reason_of_the_loss) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Server s({}, seed);
    const auto g = s.graph("g");
    const auto t = s.tensor(), u = s.tensor();
    s.faults->fail(FaultPoint::execute, 1, {.kind = ErrorKind::context_lost});
    s.dispatch(g, t, u);
    for (std::uint64_t i = 0; i < seed % 20; ++i) s.world.step();
    auto created = s.context.create_tensor(stress::value_descriptor);
    auto read = s.context.read_tensor(u);
    auto asked = u.error();
    auto rented = s.context.export_tensor(u);
    auto popped = s.context.pop_error_scope();
    auto built = detail::submit_build(s.context, graph_of_tests("h", 1), {"h"});
    s.world.run();
    const auto check = [&](auto& future) {
      BOOST_REQUIRE(future.ready());
      const auto result = future.take();
      if (!result)
        BOOST_TEST((result.error().root().kind() == ErrorKind::context_lost),
                   "seed " << seed << ": " << result.error().what());
    };
    check(created);
    check(read);
    check(asked);
    check(rented);
    check(built);
    BOOST_TEST(popped.ready());  // there is no scope: invalid_state, if it was answered
    BOOST_TEST((s.context.lost().get().reason == LostReason::device_failed));
  }
}

BOOST_AUTO_TEST_CASE(every_reply_settles_wherever_a_context_is_destroyed) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Server s({}, seed);
    const auto g = s.graph("g");
    const auto a = s.tensor(), b = s.tensor();
    std::vector<Future<Buffer>> reads;
    for (int i = 0; i < 5; ++i) {
      s.dispatch(g, a, b);
      reads.push_back(s.context.read_tensor(b));
    }
    for (std::uint64_t i = 0; i < seed % 40; ++i) s.world.step();
    s.context.destroy();
    s.world.run();
    for (auto& read : reads) BOOST_REQUIRE_MESSAGE(read.ready(), "a read hangs, seed " << seed);
    BOOST_TEST(s.world.registry().present().empty(), "seed " << seed);
    BOOST_TEST(s.context.stats().bytes == 0U, "seed " << seed);
  }
}

BOOST_AUTO_TEST_CASE(destroy_from_a_completion_callback) {
  Server s;
  auto t = s.tensor();
  bool done = false;
  s.context.read_tensor(t).then([&](Result<Buffer> bytes) {
    BOOST_TEST(bytes.has_value());
    t.destroy();
    s.context.destroy();
    done = true;
  });
  s.world.run();
  BOOST_TEST(done);
  BOOST_TEST(s.world.registry().present().empty());
}

BOOST_AUTO_TEST_CASE(a_callback_may_wait) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Server s({}, seed);
    const auto t = s.tensor();
    s.write(t, 8);
    bool done = false;
    s.context.read_tensor(t).then([&](const Result<Buffer>&) {
      BOOST_TEST(s.context.read_tensor(t).get().to_vector<std::uint64_t>()[0] == 8U,
                 "seed " << seed);
      done = true;
    });
    s.world.run();
    BOOST_TEST(done, "seed " << seed);
  }
}

BOOST_AUTO_TEST_CASE(a_dropped_future_leaves_the_operation_alone) {
  Server s;
  const auto t = s.tensor();
  s.write(t, 8);
  { const auto dropped = s.context.read_tensor(t); }
  { const auto dropped = s.context.create_tensor(stress::value_descriptor); }
  BOOST_TEST(s.read(t).value() == 8U);
  s.world.run();
  BOOST_TEST(s.context.stats().tensors == 1U);
}

BOOST_AUTO_TEST_SUITE_END()
