// Two find at once that a context has to go.
#include <memory>
#include <vector>

#include "observe/stress/fault_backend.hpp"
#include "observe/stress/relay.hpp"
#include "observe/stress/symbolic_backend.hpp"
#include "observe/stress/world.hpp"
#include "runtime/builder_bridge.hpp"
#include "tests/replay/recordings.hpp"

using namespace polychron;
using namespace polychron::testing;

namespace {

/// The lanes move last, the one with a dispatch before the other. Those that come between are lanes
/// first, and then clients.
class DispatchFirst final : public stress::Strategy {
 public:
  std::size_t pick(std::span<const stress::Runnable> runnables) override {
    std::size_t dispatching = 0;
    for (std::size_t i = 0; i < runnables.size(); ++i) {
      if (!is_lane(runnables[i])) return i;
      const bool dispatches = runnables[i].prefer([](const msg::MessageView& message) {
        const auto* const* const m = std::get_if<const msg::carry_out*>(&message);
        return m != nullptr && std::holds_alternative<msg::op::Dispatch>((*m)->operation);
      });
      if (dispatches) dispatching = i;
    }
    return dispatching;
  }
  std::optional<std::size_t> interrupt(const stress::Runnable&,
                                       std::span<const stress::Runnable> runnables) override {
    for (std::size_t i = 0; i < runnables.size(); ++i)
      if (is_lane(runnables[i])) return i;
    for (std::size_t i = 0; i < runnables.size(); ++i)
      if (runnables[i].is_client()) return i;
    return std::nullopt;
  }

 private:
  static bool is_lane(const stress::Runnable& runnable) {
    return runnable.actor() == std::string_view("device");
  }
};

/// Lets others come between when an operation has failed.
class AfterFailures final : public stress::Relay {
 public:
  AfterFailures(std::shared_ptr<msg::Observer> also, stress::World& world)
      : Relay(std::move(also)), world_(world) {}
  void sent(msg::ActorId from, msg::ActorId to, const msg::MessageView& message) noexcept override {
    Relay::sent(from, to, message);
    if (!std::holds_alternative<const msg::operation_failed*>(message)) return;
    failed = true;
    for (int steps = 0; steps < 20; ++steps) world_.interrupt();
  }
  bool failed = false;

 private:
  stress::World& world_;
};

/// Destroys a context once that is allowed.
struct Destroys final : stress::Client {
  Destroys(Context& of, const bool& may) : context(of), allowed(may) {}
  bool ready() const override { return allowed && !done; }
  void step() override {
    done = true;
    context.destroy();
  }
  Context& context;
  const bool& allowed;
  bool done = false;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(losses)

BOOST_AUTO_TEST_CASE(a_device_that_fails_after_its_context_was_destroyed_loses_nothing_before) {
  DispatchFirst strategy;
  stress::RunRecording recording;
  {
    const auto faults = std::make_shared<stress::FaultPlan>();
    stress::World world(strategy, [faults](const ContextOptions&) {
      return Result<std::shared_ptr<kernels::Backend>>(std::make_shared<stress::FaultBackend>(
          std::make_shared<stress::SymbolicBackend>(), faults));
    });
    const auto observer = std::make_shared<AfterFailures>(recording.observer_for("", 2), world);
    world.observe(observer);
    ContextOptions options;
    options.lanes = 2;
    auto context = world.settle(world.runtime().create_context(options)).value();
    const auto graph =
        world.settle(detail::submit_build(context, stress::symbolic_graph("g", 1), {"g"})).value();
    std::vector<Tensor> tensors;
    for (int i = 0; i < 6; ++i)
      tensors.push_back(world.settle(context.create_tensor(stress::value_descriptor)).value());
    world.run();
    faults->fail(stress::FaultPoint::execute, 1, {.kind = ErrorKind::context_lost});
    Destroys client(context, observer->failed);
    world.set_clients({&client});
    world.allow_interrupts(true);
    context.dispatch(graph, {{"in0", tensors[0]}}, {{"out", tensors[1]}});
    for (std::uint64_t i = 2; i < 6; ++i) context.write_tensor(tensors[i], std::vector{i});
    world.run();
    BOOST_TEST(client.done);
    world.set_clients({});
  }
  const auto file = recording.file();
  const auto records = trace::read_records(file);
  BOOST_REQUIRE(records.lost.size() == 1U);
  BOOST_TEST(records.lost.front().by == 0U);  // the client, before the lane could
  const auto before = std::ranges::count_if(records.carried, [&](const auto& carried) {
    return carried.operation == recording::operation_number<msg::op::Write> &&
           carried.clock < records.lost.front().clock;
  });
  BOOST_TEST(before > 0);  // by the other lane
  const auto replayed = replay::replay(file);
  for (const auto& difference : replayed.differences) BOOST_ERROR(difference);
}

BOOST_AUTO_TEST_SUITE_END()
