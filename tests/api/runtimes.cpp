// Contexts and runtimes on real threads: destruction at any moment, from any thread; futures.
#include <atomic>
#include <caf/all.hpp>
#include <coroutine>
#include <thread>

#include "polychron/caf.hpp"
#include "tests/api/detached.hpp"
#include "tests/api/fixture.hpp"

using namespace polychron;
using namespace polychron::testing;

BOOST_AUTO_TEST_SUITE(runtimes)

BOOST_AUTO_TEST_CASE(wrong_options_are_refused_with_what_is_known) {
  Runtime runtime;
  ContextOptions options;
  options.device = "abacus";
  const auto result = runtime.create_context(options).take();
  BOOST_REQUIRE(!result);
  BOOST_TEST((result.error().kind() == ErrorKind::not_supported));
  BOOST_TEST(std::string(result.error().what()).find("known are cpu") != std::string::npos);
  for (auto ContextOptions::*const number :
       {&ContextOptions::cores, &ContextOptions::threads, &ContextOptions::lanes})
    for (const int wrong : {-1, 100'000}) {
      options = {};
      options.*number = wrong;
      rejects(ErrorKind::type_error, runtime.create_context(options));
    }
  // More threads than a machine has numbers for.
  rejects(ErrorKind::type_error, runtime.create_context({.threads = 1000, .lanes = 200}));
  throws(ErrorKind::type_error, [] { const Runtime many({.scheduler_threads = 100'000}); });
}

BOOST_AUTO_TEST_CASE(a_promise_of_ones_own_is_used_like_the_standard_librarys) {
  Promise<float> promise;
  auto future = promise.future();
  BOOST_TEST(promise.resolve(2.0F));
  BOOST_TEST(!promise.resolve(3.0F));
  BOOST_TEST(future.get() == 2.0F);
  const Promise<float> nobody_waits(nullptr);
  BOOST_TEST(!nobody_waits.resolve(1.0F));
  throws(ErrorKind::invalid_state, [&] { static_cast<void>(nobody_waits.future()); });
  Future<void> dropped;
  {
    const Promise<void> unanswered;
    dropped = unanswered.future();
  }
  rejects(ErrorKind::invalid_state, std::move(dropped));
}

BOOST_AUTO_TEST_CASE(a_destroyed_context_refuses_every_call) {
  Embedder e;
  auto graph = e.times(2);
  auto t = e.tensor({1}), u = e.tensor({1});
  GraphBuilder builder(e.context);
  auto lost = e.context.lost();
  e.context.destroy();
  e.context.destroy();
  BOOST_TEST((lost.get().reason == LostReason::destroyed));
  throws(ErrorKind::invalid_state, [&] { GraphBuilder again(e.context); });
  throws(ErrorKind::invalid_state, [&] { builder.input("x", {DataType::float32, {1}}); });
  rejects(ErrorKind::invalid_state,
          e.context.create_tensor({{DataType::float32, {1}}, {}, {}, {}}));
  rejects(ErrorKind::invalid_state, e.context.read_tensor(t));
  throws(ErrorKind::invalid_state, [&] { e.context.write_tensor(t, Buffer(4)); });
  throws(ErrorKind::invalid_state, [&] { e.context.dispatch(graph, {{"in", t}}, {{"out", u}}); });
  auto other = e.runtime.create_context().get();
  BOOST_TEST((other.create_tensor({{DataType::float32, {1}}, {}, {}, {}}).take().has_value()));
}

BOOST_AUTO_TEST_CASE(dropping_the_runtime_with_work_in_flight_settles_every_reply) {
  std::vector<Future<Buffer>> reads;
  Tensor survivor;
  Context context;
  {
    Embedder e;
    const auto graph = e.times(2);
    survivor = e.tensor({1});
    context = e.context;
    const auto out = e.tensor({0});
    for (int i = 0; i < 500; ++i) {
      e.context.dispatch(graph, {{"in", survivor}}, {{"out", out}});
      reads.push_back(e.context.read_tensor(out));
    }
  }
  for (auto& read : reads) {
    const auto result = read.take();
    BOOST_TEST((result || result.error().kind() == ErrorKind::invalid_state));
  }
  BOOST_TEST((context.lost().get().reason == LostReason::destroyed ||
              context.lost().get().reason == LostReason::runtime_shutdown));
  rejects(ErrorKind::invalid_state, context.read_tensor(survivor));
}

BOOST_AUTO_TEST_CASE(destroying_everything_from_many_threads_at_once) {
  for (int round = 0; round < 20; ++round) {
    Embedder e;
    auto graph = e.times(2);
    const auto in = e.tensor({1});
    auto out = e.tensor({0});
    std::atomic<int> settled{0};
    constexpr int calls = 50;
    {
      std::vector<std::jthread> threads;
      for (int i = 0; i < 3; ++i)
        threads.emplace_back([&, context = e.context]() mutable {
          for (int n = 0; n < calls; ++n) {
            try {
              context.dispatch(graph, {{"in", in}}, {{"out", out}});
            } catch (const Error&) {
            }
            context.read_tensor(out).then([&](const Result<Buffer>&) { ++settled; });
          }
        });
      threads.emplace_back([&] { out.destroy(); });
      threads.emplace_back([&] { graph.destroy(); });
      threads.emplace_back([&, context = e.context]() mutable { context.destroy(); });
    }
    e.runtime = Runtime();  // the old one goes, and with it everything pending
    BOOST_TEST(settled == 3 * calls);
  }
}

BOOST_AUTO_TEST_CASE(the_runtime_may_go_in_a_completion_callback) {
  auto runtime = std::make_unique<Runtime>();
  auto context = runtime->create_context().get();
  const auto t = context.create_tensor({{DataType::float32, {1}}, true, true, {}}).get();
  std::atomic<bool> done{false};
  context.read_tensor(t).then([&](const Result<Buffer>&) {
    runtime.reset();
    done = true;
    done.notify_all();
  });
  done.wait(false);
  BOOST_TEST((context.lost().get().reason == LostReason::runtime_shutdown));
}

BOOST_AUTO_TEST_CASE(futures_can_be_awaited_by_coroutines) {
  Embedder e;
  const auto graph = e.times(4);
  const auto in = e.tensor({3}), out = e.tensor({0});
  std::atomic<float> result{0};
  const auto work = [](Embedder& embedder, Graph g, Tensor a, Tensor b,
                       std::atomic<float>& answer) -> Detached {
    embedder.context.dispatch(g, {{"in", a}}, {{"out", b}});
    const auto bytes = co_await embedder.context.read_tensor(b);
    try {
      co_await embedder.context.read_tensor(Tensor());
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::type_error) answer = Embedder::floats(bytes)[0];
    }
    answer.notify_all();
  };
  work(e, graph, in, out, result);
  result.wait(0);
  BOOST_TEST(result == 12.0F);
}

BOOST_AUTO_TEST_CASE(a_used_future_says_so) {
  Embedder e;
  const auto t = e.tensor({1});
  auto read = e.context.read_tensor(t);
  static_cast<void>(read.get());
  BOOST_TEST(!read.valid());
  throws(ErrorKind::invalid_state, [&] { static_cast<void>(read.get()); });
}

BOOST_AUTO_TEST_CASE(a_runtime_lives_in_an_embedders_actor_system) {
  caf::actor_system_config config;
  caf::actor_system system(config);
  {
    auto runtime = make_runtime(system);
    auto context = runtime.create_context().get();
    BOOST_TEST(static_cast<bool>(actor_of(context)));
    const auto t = context.create_tensor({{DataType::float32, {1}}, true, true, {}}).get();
    context.write_tensor(t, std::vector<float>{7});
    BOOST_TEST(context.read_tensor(t).get().to_vector<float>()[0] == 7.0F);
  }
  // The last of an actor ends a moment after its state: a stray one would keep this waiting for
  // ever.
  system.registry().await_running_count_equal(0);
  BOOST_TEST(system.registry().running() == 0U);
}

BOOST_AUTO_TEST_SUITE_END()
