// A lane that has run nothing for a while gives its scratch memory back.
#include <algorithm>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <thread>

#include "kernels/cpu/cpu_backend.hpp"
#include "messages/shared/home_thread.hpp"
#include "messages/shared/lane_scratch.hpp"
#include "polychron/polychron.hpp"
#include "tests/patience.hpp"
#include "tests/protocol/fixture.hpp"

using namespace polychron;
using namespace polychron::testing;
using namespace std::chrono_literals;

namespace {

detail::BackendFactory processor(const std::shared_ptr<stress::FaultPlan>& faults) {
  return [faults](const ContextOptions&) -> Result<std::shared_ptr<kernels::Backend>> {
    return std::shared_ptr<kernels::Backend>(
        std::make_shared<stress::FaultBackend>(kernels::make_cpu_backend(), faults));
  };
}

/// A context of the processor in a driven world, with a graph that needs scratch memory.
struct Rig {
  explicit Rig(ContextOptions options = {})
      : context(world.settle(world.runtime().create_context(options)).value()) {
    for (auto* const tensor : {&x, &y})
      *tensor =
          world.settle(context.create_tensor(square, {.readable = true, .writable = true})).value();
    graph = chain(n);
    context.write_tensor(x, std::vector<float>(std::size_t{n} * n, 1));
  }
  Graph chain(std::uint32_t size) {
    GraphBuilder builder(context);
    const auto in = builder.input("x", {DataType::float32, {n, n}});
    const auto part = builder.slice(in, {.starts = {0, 0}, .sizes = {size, size}});
    const auto product = builder.matmul(builder.softmax(part, 1), part);
    const PadAttributes back{.beginning_padding = {0, 0}, .ending_padding = {n - size, n - size}};
    return world.settle(builder.build({{"y", builder.pad(product, back)}})).value();
  }
  void run(const Graph& which) { context.dispatch(which, {{"x", x}}, {{"y", y}}); }
  /// The first number of y, or the error.
  Result<float> result() {
    auto bytes = world.settle(context.read_tensor(y));
    if (!bytes) return bytes.error();
    return bytes->as<float>()[0];
  }
  void run() {
    run(graph);
    BOOST_TEST(result().value() == 1.F, boost::test_tools::tolerance(1e-4F));
  }
  /// Time passes, with a look now and then.
  void pass(std::chrono::seconds time) {
    for (auto left = time; left > 0s; left -= 10s) {
      world.advance(std::min(left, 10s));
      world.look_for_idle();
    }
  }
  std::uint64_t bytes() const { return context.stats().bytes; }

  static constexpr std::uint32_t n = 64;
  static inline const OperandDescriptor square{DataType::float32, {n, n}};
  std::shared_ptr<stress::FaultPlan> faults = std::make_shared<stress::FaultPlan>();
  stress::RandomStrategy strategy{seed_of_run()};
  stress::World world{strategy, processor(faults)};
  Context context;
  Tensor x, y;
  Graph graph;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(idle_memory)

BOOST_AUTO_TEST_CASE(an_idle_lane_gives_its_arena_back_and_the_next_run_makes_it_anew) {
  Rig rig;
  rig.world.run();
  const auto before = rig.bytes(), arena = std::uint64_t{rig.graph.memory().arena};
  BOOST_TEST_REQUIRE(arena > 0U);
  for (int round = 0; round < 3; ++round) {
    rig.run();
    BOOST_TEST(rig.bytes() == before + arena);
    rig.pass(10s);  // the look that sees the run
    rig.pass(10s);
    BOOST_TEST(rig.bytes() == before + arena);
    rig.pass(10s);
    BOOST_TEST(rig.bytes() == before);
  }
  rig.graph.destroy();
  rig.world.run();
  BOOST_TEST(rig.bytes() == before);  // it had no constants
  rig.pass(60s);
}

BOOST_AUTO_TEST_CASE(a_lane_that_runs_now_and_then_keeps_it) {
  Rig rig;
  rig.world.run();
  const auto before = rig.bytes();
  for (int round = 0; round < 10; ++round) {
    rig.run();
    rig.pass(20s);
    BOOST_TEST(rig.bytes() == before + rig.graph.memory().arena);
  }
}

// A larger graph that ran long ago says nothing about what runs now.
BOOST_AUTO_TEST_CASE(what_ran_before_the_pause_is_forgotten) {
  Rig rig;
  const auto small = rig.chain(Rig::n / 4);
  rig.world.run();
  const auto before = rig.bytes();
  BOOST_TEST_REQUIRE(small.memory().arena < rig.graph.memory().arena);
  rig.run();
  rig.pass(30s);
  for (int i = 0; i < 600; ++i) {
    rig.run(small);
    rig.world.run();
    if (rig.bytes() != before + small.memory().arena) BOOST_FAIL("after run " << i);
  }
}

// The limit counts it as free meanwhile, so that another may take it.
BOOST_AUTO_TEST_CASE(a_run_fails_if_another_has_taken_the_memory_and_works_again_later) {
  std::uint64_t limit = 0;
  std::uint32_t arena = 0;
  {
    Rig rig;
    rig.run();
    limit = rig.bytes();
    arena = static_cast<std::uint32_t>(rig.graph.memory().arena);
  }
  Rig rig({.memory_limit = limit});
  rig.run();
  const auto words = [&] {
    TensorDescriptor descriptor;
    descriptor.data_type = DataType::uint8;
    descriptor.shape = {arena};
    return rig.world.settle(rig.context.create_tensor(descriptor));
  };
  BOOST_TEST(!words().has_value());
  rig.pass(30s);
  auto taken = words();
  BOOST_TEST_REQUIRE(taken.has_value());
  rig.run(rig.graph);
  const auto result = rig.result();
  BOOST_TEST(mentions(rejected(ErrorKind::operation_error, result), "out of memory"));
  taken->destroy();
  rig.run();
  BOOST_TEST(rig.bytes() == limit);
}

// Looks on another thread, as fast as it can, free what runs have let go of and nothing else.
BOOST_AUTO_TEST_CASE(looks_beside_runs_free_nothing_that_is_in_use) {
  auto budget = std::make_shared<msg::Budget>();
  msg::LaneScratch scratch;
  const auto arena = scratch.arena();
  std::atomic<bool> ended = false;
  std::thread looks([&] {
    while (!ended) scratch.look(msg::Clock::now(), 0s);
  });
  std::size_t wrong = 0, anew = 0;
  for (std::size_t run = 0; run < 20'000; ++run) {
    const auto held = scratch.hold();
    const auto size = 64 + run % 512;
    anew += arena->bytes.size() == 0;
    if (!arena->fit(budget, size)) ++wrong;
    const auto bytes = arena->bytes.bytes();
    wrong += bytes.size() < size || budget->used() != bytes.size();
    std::ranges::fill(bytes, static_cast<std::byte>(run));
    wrong += bytes.front() != static_cast<std::byte>(run) || bytes.back() != bytes.front();
  }
  ended = true;
  looks.join();
  BOOST_TEST(wrong == 0U);
  BOOST_TEST_MESSAGE(anew << " arenas made anew");
  scratch.look(msg::Clock::now(), 0s);
  scratch.look(msg::Clock::now(), 0s);
  BOOST_TEST(budget->used() == 0U);
}

BOOST_AUTO_TEST_CASE(a_home_thread_does_its_chore_again_and_again_also_between_work) {
  std::atomic<int> chores = 0;
  msg::HomeThread home(1us, [&] { ++chores; });
  BOOST_TEST(comes([&] { return chores >= 3; }));
  const int before = chores;
  BOOST_TEST(comes([&] {
    home.run([] {});
    return chores >= before + 3;
  }));
}

BOOST_AUTO_TEST_SUITE_END()
