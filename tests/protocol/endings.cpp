// The end, and control messages, do not queue behind bulk work: clauses "lifetimes" and "load" of
// docs/contract.md. In the driven world nothing runs between the steps. An operation that has not
// been carried out when the context goes never is.
#include "tests/protocol/fixture.hpp"

using namespace polychron;
using namespace polychron::testing;

namespace {

constexpr std::uint64_t backlog = 300;

/// A context with a backlog, of which a part has been carried out.
struct Busy : Server {
  Busy(int lanes, std::uint64_t seed) : Server(with(lanes), seed) {
    const auto g = graph("g");
    for (int i = 0; i < 4; ++i) tensors.push_back(tensor());
    for (std::uint64_t i = 0; i < backlog; ++i) dispatch(g, tensors[i % 2], tensors[2 + i % 2]);
    for (std::uint64_t i = 0; i < 7 * seed % 200; ++i) world.step();
  }
  static ContextOptions with(int lanes) {
    ContextOptions options;
    options.lanes = lanes;
    return options;
  }
  /// The number of requests to the backend.
  std::uint64_t work() const {
    std::uint64_t calls = 0;
    for (const auto point : {FaultPoint::allocate, FaultPoint::adopt, FaultPoint::read,
                             FaultPoint::compile, FaultPoint::execute})
      calls += faults->calls(point);
    return calls;
  }
  std::vector<Tensor> tensors;
};

void on_all_schedules(const std::function<void(Busy&, std::uint64_t seed)>& test) {
  for (const int lanes : {1, 2})
    for (std::uint64_t seed = 1; seed <= 60; ++seed)
      BOOST_TEST_CONTEXT("lanes " << lanes << ", seed " << seed) {
        Busy s(lanes, seed);
        test(s, seed);
      }
}

}  // namespace

namespace {

/// The context's actor sends all calls on before any other actor moves.
class ContextFirst : public stress::Strategy {
 public:
  std::size_t pick(std::span<const stress::Runnable> runnables) override {
    for (std::size_t i = 0; i < runnables.size(); ++i)
      if (std::string_view(runnables[i].actor()) == "context") return i;
    return 0;
  }
};

/// Picks at random. Once asked, no lane moves while another actor can, and `stalled` is called when
/// only lanes are left.
class LanesStall : public stress::RandomStrategy {
 public:
  using RandomStrategy::RandomStrategy;
  std::size_t pick(std::span<const stress::Runnable> runnables) override {
    const auto any = RandomStrategy::pick(runnables);
    if (!stalled) return any;
    for (std::size_t i = 0; i < runnables.size(); ++i) {
      const auto at = (any + i) % runnables.size();
      if (std::string_view(runnables[at].actor()) != "device") return at;
    }
    std::exchange(stalled, nullptr)();
    return any;
  }
  std::function<void()> stalled;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(endings)

BOOST_AUTO_TEST_CASE(nothing_queued_is_carried_out_after_destroy) {
  on_all_schedules([](Busy& s, std::uint64_t) {
    auto read = s.context.read_tensor(s.tensors[2]);
    const auto before = s.work();
    s.context.destroy();
    s.world.run();
    BOOST_TEST(s.work() == before);
    rejected(ErrorKind::invalid_state, read.take());
    BOOST_TEST(s.world.registry().present().empty());
    BOOST_TEST(s.context.stats().bytes == 0U);
  });
}

BOOST_AUTO_TEST_CASE(what_a_busy_lane_has_in_its_mail_is_rejected_at_once) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    LanesStall strategy(seed);
    stress::World world(strategy, faulty_symbols(std::make_shared<stress::FaultPlan>()));
    auto context = world.settle(world.runtime().create_context({})).value();
    const auto g =
        world.settle(detail::submit_build(context, graph_of_tests("g", 1), {"g"})).value();
    const auto t = world.settle(context.create_tensor(stress::value_descriptor)).value();
    auto read = context.read_tensor(t);
    NamedBuffers inputs, outputs;
    inputs.emplace_back("in0", Buffer(sizeof(std::uint64_t)));
    outputs.emplace_back("out", Buffer(sizeof(std::uint64_t)));
    auto compute = context.compute(g, std::move(inputs), std::move(outputs));
    auto query = t.error();
    auto lease = context.export_tensor(t);
    bool looked = false;
    strategy.stalled = [&] {
      looked = true;
      BOOST_TEST(read.ready(), "the read, seed " << seed);
      BOOST_TEST(compute.ready(), "the compute, seed " << seed);
      BOOST_TEST(query.ready(), "the query, seed " << seed);
      BOOST_TEST(lease.ready(), "the lease, seed " << seed);
    };
    for (std::uint64_t i = 0; i < seed % 12; ++i) {
      auto stalled = std::exchange(strategy.stalled, nullptr);
      strategy.stalled = [] {};
      world.step();
      strategy.stalled = std::move(stalled);
    }
    context.destroy();
    world.run();
    BOOST_TEST(looked, "seed " << seed);
  }
}

BOOST_AUTO_TEST_CASE(nothing_queued_is_carried_out_after_shutdown) {
  on_all_schedules([](Busy& s, std::uint64_t) {
    auto read = s.context.read_tensor(s.tensors[2]);
    const auto before = s.work();
    static_cast<void>(s.world.runtime().shutdown());
    s.world.run();
    BOOST_TEST(s.work() == before);
    rejected(ErrorKind::invalid_state, read.take());
    BOOST_TEST(s.world.registry().present().empty());
  });
}

BOOST_AUTO_TEST_CASE(nothing_queued_is_carried_out_once_the_device_is_lost) {
  on_all_schedules([](Busy& s, std::uint64_t) {
    s.faults->fail(FaultPoint::execute, 1, {.kind = ErrorKind::context_lost});
    auto lost = s.context.lost();
    std::uint64_t before = s.work();
    while (!lost.ready()) {
      before = s.work();
      if (!s.world.step()) break;
    }
    if (!lost.ready()) return;  // the whole backlog had been carried out
    const auto at_the_loss = s.work();
    BOOST_TEST(at_the_loss <= before + 1);
    s.world.run();
    // Lanes that have not heard of it yet may carry out what they have come to.
    BOOST_TEST(s.work() <= at_the_loss + 1);
    BOOST_TEST(s.world.registry().present().empty());
  });
}

BOOST_AUTO_TEST_CASE(queued_builds_are_not_carried_out) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Server s({}, seed);
    std::vector<Future<Graph>> builds;
    for (int i = 0; i < 20; ++i)
      builds.push_back(detail::submit_build(s.context, graph_of_tests("g", 1), {"g"}));
    for (std::uint64_t i = 0; i < seed % 30; ++i) s.world.step();
    const auto before = s.faults->calls(FaultPoint::compile);
    s.context.destroy();
    s.world.run();
    BOOST_TEST(s.faults->calls(FaultPoint::compile) == before, "seed " << seed);
    for (auto& build : builds) BOOST_TEST(build.ready());
    BOOST_TEST(s.world.registry().present().empty());
  }
}

BOOST_AUTO_TEST_CASE(the_end_does_not_stand_behind_bulk) {
  on_all_schedules([](Busy& s, std::uint64_t) {
    s.context.destroy();
    const auto steps = s.world.steps();
    s.world.run();
    // A few messages for each object; none for each operation that was queued at the context.
    BOOST_TEST(s.world.steps() - steps < backlog);
  });
}

BOOST_AUTO_TEST_CASE(pending_does_not_stand_behind_what_is_queued_at_a_lane) {
  ContextFirst strategy;
  const auto faults = std::make_shared<stress::FaultPlan>();
  stress::World world(strategy, faulty_symbols(faults));
  auto context = world.settle(world.runtime().create_context({})).value();
  const auto g = world.settle(detail::submit_build(context, graph_of_tests("g", 1), {"g"})).value();
  const auto in = world.settle(context.create_tensor(stress::value_descriptor)).value();
  const auto out = world.settle(context.create_tensor(stress::value_descriptor)).value();
  for (std::uint64_t i = 0; i < backlog; ++i) context.dispatch(g, {{"in0", in}}, {{"out", out}});
  const auto pending = world.settle(context.pending()).value();
  BOOST_TEST(faults->calls(FaultPoint::execute) < 5U);
  BOOST_TEST(pending.size() + faults->calls(FaultPoint::execute) == backlog);
}

BOOST_AUTO_TEST_CASE(pending_rejects_if_the_context_goes_first) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Server s({}, seed);
    const auto g = s.graph("g");
    const auto t = s.tensor(), out = s.tensor();
    const auto lease = s.world.settle(s.context.export_tensor(t)).value();
    for (int i = 0; i < 5; ++i) s.dispatch(g, t, out);
    s.world.run();
    auto pending = s.context.pending();
    for (std::uint64_t i = 0; i < seed % 3; ++i) s.world.step();
    s.context.destroy();
    s.world.run();
    BOOST_REQUIRE(pending.ready());
    const auto told = pending.take();
    // All of it, or nothing: never the little that is left after the end began.
    if (told)
      BOOST_TEST(told.value().size() == 6U, "seed " << seed);
    else
      rejected(ErrorKind::invalid_state, told);
  }
}

BOOST_AUTO_TEST_SUITE_END()
