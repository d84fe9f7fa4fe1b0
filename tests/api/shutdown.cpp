// The end of contexts and runtimes while kernels and compilations are under way.
#include <caf/all.hpp>
#include <latch>
#include <thread>

#include "kernels/cpu/cpu_backend.hpp"
#include "observe/stress/fault_backend.hpp"
#include "polychron/caf.hpp"
#include "runtime/runtime_state.hpp"
#include "tests/api/fixture.hpp"

using namespace polychron;
using namespace polychron::testing;
using stress::FaultPoint;

namespace {

/// A context named 'main'. Its next call of a fault point waits until let_go(), then fails.
struct StalledAt {
  explicit StalledAt(FaultPoint point) : point_(point) {}
  ~StalledAt() { let_go(); }

  Graph times_two() {
    GraphBuilder builder(context);
    const auto in = builder.input("in", one);
    return builder.build({{"out", builder.add(in, in)}}).get();
  }
  void stall() { faults->fail(point_, 1, {.until = latch_}); }
  void wait_until_stalled() const {
    while (faults->injected() == 0) std::this_thread::yield();
  }
  void let_go() {
    if (!latch_->try_wait()) latch_->count_down();
  }
  /// The things that the actor of this name holds, among the remaining actors.
  std::string holds(const std::string& actor) {
    for (const auto& remaining : runtime.shutdown(std::chrono::nanoseconds(0)))
      if (remaining.actor == actor) return remaining.holds;
    return "it has ended";
  }

 private:
  FaultPoint point_;
  std::shared_ptr<std::latch> latch_ = std::make_shared<std::latch>(1);

 public:
  const OperandDescriptor one{DataType::float32, {1}};
  std::shared_ptr<stress::FaultPlan> faults = std::make_shared<stress::FaultPlan>();
  Runtime runtime{detail::RuntimeState::create(
      {}, [f = faults](const ContextOptions&) -> Result<std::shared_ptr<kernels::Backend>> {
        return std::shared_ptr<kernels::Backend>(
            std::make_shared<stress::FaultBackend>(kernels::make_cpu_backend(), f));
      })};
  Context context = runtime.create_context({.label = "main"}).get();
};

}  // namespace

BOOST_AUTO_TEST_SUITE(shutdown)

BOOST_AUTO_TEST_CASE(a_running_kernel_is_named_and_waited_for) {
  StalledAt s(FaultPoint::execute);
  const auto graph = s.times_two();
  const auto in = s.context.create_tensor({s.one, true, true, {}}).get();
  const auto out = s.context.create_tensor({s.one, true, true, {}}).get();
  s.stall();
  s.context.dispatch(graph, {{"in", in}}, {{"out", out}}, {.label = "long"});
  auto read = s.context.read_tensor(out);
  s.wait_until_stalled();
  const auto running = s.context.stats().running;
  BOOST_REQUIRE_EQUAL(running.size(), 1U);
  BOOST_TEST(running[0].operation == "dispatch");
  const auto holds = s.holds("device of context 'main'");
  BOOST_TEST(holds == "dispatch (ticket " + std::to_string(running[0].ticket) + ")");
  // Pending calls do not wait for the kernel.
  const auto result = read.take();
  BOOST_REQUIRE(!result);
  BOOST_TEST((result.error().kind() == ErrorKind::invalid_state));
  s.let_go();
  BOOST_TEST(s.runtime.shutdown().empty());
  BOOST_TEST(s.context.stats().bytes == 0U);
  BOOST_TEST(s.context.stats().running.empty());
}

BOOST_AUTO_TEST_CASE(a_running_compilation_is_named_and_waited_for) {
  StalledAt s(FaultPoint::compile);
  s.stall();
  GraphBuilder builder(s.context);
  const auto in = builder.input("in", s.one);
  auto build = builder.build({{"out", builder.add(in, in)}});
  s.wait_until_stalled();
  const auto holds = s.holds("compiler of context 'main'");
  BOOST_TEST(holds.starts_with("build of graph #"), holds);
  s.let_go();
  BOOST_TEST(s.runtime.shutdown().empty());
  rejects(ErrorKind::invalid_state, std::move(build));
}

// A kernel that works on the caller's buffers when the context goes: they come back after it.
BOOST_AUTO_TEST_CASE(a_compute_in_hand_gives_its_buffers_back) {
  StalledAt s(FaultPoint::execute);
  const auto graph = s.times_two();
  s.stall();
  const auto start = [&](const void** address) {
    NamedBuffers inputs, outputs;
    inputs.emplace_back("in", Buffer(4));
    outputs.emplace_back("out", Buffer(4));
    *address = outputs[0].second.data();
    return s.context.compute(graph, std::move(inputs), std::move(outputs));
  };
  const void *running_at = nullptr, *waiting_at = nullptr;
  auto running = start(&running_at);
  auto waiting = start(&waiting_at);
  s.wait_until_stalled();
  s.context.destroy();
  const auto back = [](Future<ComputeResult> future, const void* address) {
    const auto done = future.get();
    BOOST_REQUIRE(!done.status.has_value());
    BOOST_TEST((done.status.error().kind() == ErrorKind::invalid_state));
    BOOST_TEST(done.outputs.at(0).second.data() == address);
    BOOST_TEST(done.inputs.at(0).second.size() == 4U);
  };
  back(std::move(waiting), waiting_at);  // at once
  BOOST_TEST(!running.ready());
  s.let_go();
  back(std::move(running), running_at);
}

// CAF leaves something of a system behind in each thread that spawns in it.
BOOST_AUTO_TEST_CASE(a_runtime_ends_while_threads_that_used_it_live_on) {
  std::latch used(1), ended(1);
  std::jthread user;
  {
    Runtime runtime;
    user = std::jthread([&] {
      {
        auto context = runtime.create_context().get();
        static_cast<void>(context.create_tensor({{DataType::float32, {1}}, true, true, {}}).get());
      }
      used.count_down();
      ended.wait();
    });
    used.wait();
  }
  ended.count_down();
}

BOOST_AUTO_TEST_CASE(an_embedders_system_ends_while_threads_that_used_it_live_on) {
  std::latch used(1), ended(1);
  std::jthread user;
  {
    caf::actor_system_config config;
    caf::actor_system system(config);
    auto runtime = make_runtime(system);
    user = std::jthread([&] {
      static_cast<void>(runtime.create_context().get());
      used.count_down();
      ended.wait();
    });
    used.wait();
  }
  ended.count_down();
}

BOOST_AUTO_TEST_CASE(a_runtime_that_was_moved_from_says_so) {
  Runtime runtime;
  const Runtime other = std::move(runtime);
  rejects(ErrorKind::type_error, runtime.create_context());  // NOLINT: that is the point
  BOOST_TEST(runtime.shutdown().empty());
}

BOOST_AUTO_TEST_CASE(after_shutdown_nothing_begins) {
  Embedder e;
  const auto t = e.tensor({1});
  BOOST_TEST(e.runtime.shutdown().empty());
  BOOST_TEST(e.runtime.shutdown().empty());
  BOOST_TEST((e.context.lost().get().reason == LostReason::runtime_shutdown));
  rejects(ErrorKind::invalid_state, e.runtime.create_context());
  rejects(ErrorKind::invalid_state, e.context.read_tensor(t));
}

BOOST_AUTO_TEST_SUITE_END()
