// A device that works by itself: a lane submits a dispatch, and hears of its end later.
#include "observe/stress/late_backend.hpp"
#include "tests/protocol/fixture.hpp"

using namespace polychron;
using namespace polychron::testing;

namespace {

struct Hardware {
  std::shared_ptr<stress::LateBackend> device;
};

/// A server whose device finishes an execution when a test says so.
struct LateServer : Hardware, Server {
  explicit LateServer(ContextOptions options = {})
      : Server(options, seed_of_run(), [this](std::shared_ptr<kernels::Backend> inner) {
          return device = std::make_shared<stress::LateBackend>(std::move(inner));
        }) {}

  /// The device finishes all that it is given.
  void finish_all() {
    world.run();
    for (; device->at_work() > 0; world.run()) device->complete(0);
  }
  Result<std::uint64_t> answer(Future<Buffer> read) {
    auto bytes = world.settle(std::move(read));
    if (!bytes) return bytes.error();
    return bytes->as<std::uint64_t>()[0];
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(late_device)

BOOST_AUTO_TEST_CASE(a_lane_copies_other_tensors_while_the_device_is_at_work) {
  LateServer s;
  const auto g = s.graph("g");
  const auto in = s.tensor("in"), out = s.tensor("out"), other = s.tensor("other");
  s.write(in, 3);
  s.dispatch(g, in, out, {.label = "slow"});
  auto result = s.context.read_tensor(out);
  auto input = s.context.read_tensor(in);
  s.write(in, 4);
  s.write(other, 7);
  s.world.run();
  BOOST_TEST(s.device->at_work() == 1U);
  BOOST_TEST(s.read(other).value() == 7U);
  BOOST_TEST(s.answer(std::move(input)).value() == 3U);
  BOOST_TEST(!result.ready());

  const auto pending = s.world.settle(s.context.pending()).value();
  BOOST_REQUIRE(pending.size() == 3U);
  BOOST_TEST(pending[0].label == "slow");
  BOOST_TEST(pending[0].waits_for == "the device");
  BOOST_TEST(mentions(Error(ErrorKind::internal, pending[2].waits_for), "dispatch"));
  const auto running = s.context.stats().running;
  BOOST_REQUIRE(running.size() == 1U);
  BOOST_TEST(running[0].operation == "dispatch");

  s.device->complete(0);
  BOOST_TEST(s.answer(std::move(result)).value() == Server::result("g", 3));
  BOOST_TEST(s.read(in).value() == 4U);
  BOOST_TEST(s.context.stats().running.empty());
}

BOOST_AUTO_TEST_CASE(runs_of_one_graph_take_turns_and_runs_of_others_overlap) {
  LateServer s;
  const auto g = s.graph("g"), h = s.graph("h");
  const auto in = s.tensor("in"), a = s.tensor("a"), b = s.tensor("b"), c = s.tensor("c");
  s.write(in, 5);
  s.dispatch(g, in, a);
  s.dispatch(g, in, b);
  s.dispatch(h, in, c);
  s.world.run();
  BOOST_TEST(s.device->at_work() == 2U);  // b waits for g
  s.device->complete(1);
  BOOST_TEST(s.read(c).value() == Server::result("h", 5));
  s.device->complete(0);
  s.world.run();
  BOOST_TEST(s.device->at_work() == 1U);
  s.device->complete(0);
  BOOST_TEST(s.read(b).value() == Server::result("g", 5));
}

// A dispatch whose turn comes too late starts the next one of its graph.
BOOST_AUTO_TEST_CASE(a_held_dispatch_may_miss_its_deadline) {
  LateServer s;
  const auto g = s.graph("g");
  const auto in = s.tensor("in"), a = s.tensor("a"), b = s.tensor("b"), c = s.tensor("c");
  s.write(in, 5);
  s.dispatch(g, in, a);
  s.dispatch(g, in, b, {.label = "late", .deadline = s.world.now() + std::chrono::milliseconds(1)});
  s.dispatch(g, in, c);
  s.world.run();
  s.world.advance(std::chrono::milliseconds(2));
  s.finish_all();
  BOOST_TEST(mentions(rejected(ErrorKind::operation_error, s.read(b)), "'late'"));
  BOOST_TEST(s.read(c).value() == Server::result("g", 5));
}

BOOST_AUTO_TEST_CASE(an_error_scope_waits_for_the_device) {
  LateServer s;
  const auto g = s.graph("g");
  const auto in = s.tensor("in"), out = s.tensor("out");
  s.write(in, 5);
  s.world.run();
  s.faults->fail(FaultPoint::execute, 1, {.kind = ErrorKind::out_of_memory});
  s.context.push_error_scope(ErrorFilter::out_of_memory);
  s.dispatch(g, in, out, {.label = "big"});
  auto popped = s.context.pop_error_scope();
  s.world.run();
  BOOST_TEST(!popped.ready());
  s.device->complete(0);
  const auto found = s.world.settle(std::move(popped)).value();
  BOOST_REQUIRE(found.has_value());
  BOOST_TEST(mentions(*found, "'big'"));
  rejected(ErrorKind::operation_error, s.read(out));
}

BOOST_AUTO_TEST_CASE(a_permit_is_held_until_the_device_has_finished) {
  ContextOptions options;
  options.max_in_flight = 1;
  options.admission = AdmissionPolicy::fail;
  LateServer s(options);
  const auto g = s.graph("g");
  const auto in = s.tensor("in"), out = s.tensor("out");
  s.dispatch(g, in, out);
  s.world.run();
  thrown(ErrorKind::quota_exceeded, [&] { s.dispatch(g, in, out); });
  s.device->complete(0);
  s.world.run();
  s.dispatch(g, in, out);
  s.finish_all();
}

BOOST_AUTO_TEST_CASE(destroying_rejects_at_once_and_frees_when_the_device_has_finished) {
  LateServer s;
  const auto g = s.graph("g");
  const auto in = s.tensor("in");
  auto out = s.tensor("out");
  s.dispatch(g, in, out);
  auto read = s.context.read_tensor(out);
  s.world.run();
  out.destroy();
  rejected(ErrorKind::invalid_state, s.world.settle(std::move(read)));
  const auto held = s.context.stats().bytes;
  s.world.run();
  BOOST_TEST(s.context.stats().bytes == held);
  s.device->complete(0);
  s.world.run();
  BOOST_TEST(s.context.stats().bytes < held);

  const auto last = s.tensor("last");
  s.dispatch(g, in, last);
  s.world.run();
  auto lost = s.context.lost();
  s.context.destroy();
  BOOST_TEST(s.world.settle(std::move(lost)).has_value());
  s.world.run();
  BOOST_TEST(s.device->at_work() == 0U);  // the lane has waited for it
}

BOOST_AUTO_TEST_CASE(a_device_that_fails_at_the_end_loses_its_context) {
  LateServer s;
  const auto g = s.graph("g");
  const auto in = s.tensor("in"), out = s.tensor("out");
  s.world.run();
  s.faults->fail(FaultPoint::execute, 1, {.kind = ErrorKind::context_lost});
  s.dispatch(g, in, out);
  auto read = s.context.read_tensor(out);
  auto lost = s.context.lost();
  s.finish_all();
  rejected(ErrorKind::context_lost, s.world.settle(std::move(read)));
  BOOST_TEST((s.world.settle(std::move(lost)).value().reason == LostReason::device_failed));
}

// The device has finished before the lane has done with submitting.
BOOST_AUTO_TEST_CASE(a_device_may_be_quick) {
  struct Quick : kernels::ForwardingBackend {
    using ForwardingBackend::ForwardingBackend;
    bool submits() const noexcept override { return true; }
    void submit(kernels::PlanInstance& plan, std::span<kernels::Storage* const> inputs,
                std::span<kernels::Storage* const> outputs,
                std::shared_ptr<kernels::Completion> done) noexcept override {
      status = execute(plan, inputs, outputs);
      done->notify();
    }
    kernels::ExecuteStatus finish(kernels::PlanInstance&) override { return std::move(status); }
    kernels::ExecuteStatus status;
  };
  Server s({}, seed_of_run(), [](std::shared_ptr<kernels::Backend> inner) {
    return std::make_shared<Quick>(std::move(inner));
  });
  const auto g = s.graph("g");
  const auto in = s.tensor("in"), out = s.tensor("out");
  s.write(in, 9);
  for (int i = 0; i < 3; ++i) s.dispatch(g, in, out);
  BOOST_TEST(s.read(out).value() == Server::result("g", 9));
}

BOOST_AUTO_TEST_SUITE_END()
