// A caller that waits for a reply helps: which thread runs which work, and what that must not
// change. A backend notes the threads that run kernels. No test depends on the winner of a race,
// only on each side winning now and then.
#include <omp.h>
#include <xmmintrin.h>

#include <atomic>
#include <deque>
#include <iostream>
#include <limits>
#include <thread>

#include "tests/api/fixture.hpp"
#include "tests/patience.hpp"
#include "tests/rig.hpp"

using namespace polychron;
using namespace polychron::testing;
using stress::FaultPoint;

namespace {

RuntimeOptions without_helping() {
  RuntimeOptions options;
  options.helping = false;
  return options;
}

/// A rig with a graph that runs, and what it takes for an awaited call.
struct Awaited : Rig {
  explicit Awaited(const ContextOptions& options = {}, const RuntimeOptions& of_runtime = {})
      : Rig(options, of_runtime) {}

  float call(float value) {
    write(in, value);
    dispatch(graph, in, out);
    return read(out);
  }
  std::thread::id last() const { return faults->last_thread(FaultPoint::execute); }
  bool ran_here() const { return last() == std::this_thread::get_id(); }
  /// Calls until this thread has run a kernel itself.
  bool comes_to_help() {
    return comes([&] {
      call(1);
      return ran_here();
    });
  }

  Graph graph = twice();
  Tensor in = tensor(), out = tensor();
};

/// A client inside a kernel of its own context, which does not end before `gate` opens.
class StuckHelper {
 public:
  explicit StuckHelper(Awaited& rig) : rig_(rig) {
    const bool stuck = comes([&] { return is_stuck(); });
    if (!stuck) gate->open();  // or the thread would never end
    BOOST_REQUIRE(stuck);
  }
  ~StuckHelper() { gate->open(); }

  std::unique_ptr<Gate> gate;
  std::optional<Result<Buffer>> result;  ///< of the thread's read, once that has ended
  std::jthread thread;

 private:
  /// Lets a thread try: it may be the lane's own that gets the kernel.
  bool is_stuck() {
    if (gate) gate->open();
    if (thread.joinable()) thread.join();
    gate = std::make_unique<Gate>();
    result.reset();
    thread = std::jthread([this] {
      if (!rig_.comes_to_help()) return;
      rig_.faults->fail(FaultPoint::execute, 1, {.until = gate->latch()});
      rig_.dispatch(rig_.graph, rig_.in, rig_.out);
      result = rig_.context.read_tensor(rig_.out).take();
    });
    const auto before = rig_.faults->injected();
    if (!comes([&] { return rig_.faults->injected() > before; })) return false;
    return rig_.last() == thread.get_id();
  }

  Awaited& rig_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(helping)

BOOST_AUTO_TEST_CASE(who_waits_runs_kernels_that_are_brief) {
  Awaited rig;
  BOOST_TEST(rig.comes_to_help());
  // Its lane has a thread as well, and this is not it.
  rig.dispatch(rig.graph, rig.in, rig.out);
  BOOST_TEST(comes([&] { return rig.context.stats().in_flight == 0; }));
  BOOST_TEST(!rig.ran_here());
}

BOOST_AUTO_TEST_CASE(it_is_turned_off_by_an_option_and_by_an_executor) {
  RuntimeOptions with_executor;
  with_executor.executor = [](const auto&) {};
  for (const auto& options : {without_helping(), with_executor}) {
    Awaited rig({}, options);
    for (float i = 0; i < 500; ++i) BOOST_REQUIRE_EQUAL(rig.call(i), 2 * i);
    BOOST_TEST(!rig.faults->threads(FaultPoint::execute).contains(std::this_thread::get_id()));
  }
}

BOOST_AUTO_TEST_CASE(kernels_of_more_than_one_thread_are_run_by_who_waits_too) {
  Awaited rig({.threads = 2});
  for (float i = 0; i < 500; ++i) BOOST_REQUIRE_EQUAL(rig.call(i), 2 * i);
  BOOST_TEST(rig.faults->threads(FaultPoint::execute).contains(std::this_thread::get_id()));
}

BOOST_AUTO_TEST_CASE(with_lanes_results_are_what_they_were) {
  Awaited rig({.lanes = 3});
  const auto other = rig.tensor(), sum = rig.tensor();
  for (float i = 0; i < 2000; ++i) {
    rig.write(other, i);
    rig.dispatch(rig.graph, other, sum);
    BOOST_REQUIRE_EQUAL(rig.call(i), 2 * i);
    BOOST_REQUIRE_EQUAL(rig.read(sum), 2 * i);
  }
}

BOOST_AUTO_TEST_CASE(what_took_long_is_left_to_the_lane) {
  Awaited rig;
  {
    StuckHelper helper(rig);
    const auto now = [] { return std::chrono::steady_clock::now(); };
    const auto since = now();
    BOOST_TEST(comes([&] { return now() - since > std::chrono::milliseconds(1); }));
  }
  rig.dispatch(rig.graph, rig.in, rig.out);
  static_cast<void>(rig.context.read_tensor(rig.out).take());
  BOOST_TEST(!rig.ran_here());
  BOOST_TEST(rig.comes_to_help());  // it was brief again
}

BOOST_AUTO_TEST_CASE(the_end_of_a_context_does_not_wait_for_who_helps) {
  Awaited rig({}, {.scheduler_threads = 1});
  auto doomed = rig.tensor();
  StuckHelper helper(rig);
  auto behind = rig.context.read_tensor(rig.in);
  auto of_doomed = rig.context.read_tensor(doomed);
  doomed.destroy();
  rejects(ErrorKind::invalid_state, std::move(of_doomed));
  BOOST_TEST(!behind.ready());
  rig.context.destroy();
  rejects(ErrorKind::invalid_state, std::move(behind));
  BOOST_TEST((rig.context.lost().get().reason == LostReason::destroyed));
  helper.gate->open();
  helper.thread.join();
  BOOST_REQUIRE(helper.result.has_value());
  BOOST_TEST(!helper.result->has_value());
}

BOOST_AUTO_TEST_CASE(a_runtime_ends_once_the_kernel_does) {
  auto rig = std::make_unique<Awaited>();
  StuckHelper helper(*rig);
  auto runtime = std::move(rig->runtime);
  const auto remaining = runtime.shutdown(std::chrono::nanoseconds(0));
  BOOST_TEST(std::ranges::any_of(remaining, [](const auto& actor) {
    return actor.actor == "device of context" && actor.holds.starts_with("dispatch (ticket ");
  }));
  helper.gate->open();
  BOOST_TEST(runtime.shutdown().empty());
  helper.thread.join();
}

BOOST_AUTO_TEST_CASE(other_contexts_go_on_without_who_helps) {
  Awaited rig({}, {.scheduler_threads = 1});
  StuckHelper helper(rig);
  auto context = rig.runtime.create_context().get();
  const auto t = context.create_tensor(Rig::floats()).get();
  context.write_tensor(t, std::vector<float>(4, 7));
  BOOST_TEST(context.read_tensor(t).get().to_vector<float>()[0] == 7.0F);
  BOOST_TEST(!helper.result.has_value());
}

BOOST_AUTO_TEST_CASE(nobody_runs_kernels_of_a_context_that_it_does_not_wait_for) {
  Awaited rig;
  auto other = rig.runtime.create_context().get();
  const auto t = other.create_tensor(Rig::floats()).get();
  BOOST_TEST(rig.comes_to_help());
  for (int i = 0; i < 200; ++i) {
    std::jthread stranger([&] { static_cast<void>(other.read_tensor(t).get()); });
    rig.dispatch(rig.graph, rig.in, rig.out);
    stranger.join();
    static_cast<void>(rig.read(rig.out));
  }
  // This thread and the lane's.
  BOOST_TEST(rig.faults->threads(FaultPoint::execute).size() <= 2U);
}

// Subnormal numbers as zeros, and rounding upwards: a kernel's results depend neither on the thread
// that runs it, nor on that thread's creator.
BOOST_AUTO_TEST_CASE(a_callers_floating_point_mode_stays_its_own) {
  constexpr unsigned modes = 0xFFC0U, flush_and_round_up = 0x8040U | 0x4000U;
  const unsigned before = _mm_getcsr();
  for (const bool helping : {true, false}) {
    float subnormal = 0, rounded = 0;
    bool helped = true;
    _mm_setcsr((before & ~0x6000U) | flush_and_round_up);
    const unsigned odd = _mm_getcsr() & modes;
    {
      RuntimeOptions options;
      options.helping = helping;
      Awaited rig({}, options);
      GraphBuilder builder(rig.context);
      const std::vector<float> little(4, 1e-9F);
      const auto plus_little =
          builder.add(builder.input("in", Rig::floats()), builder.constant(Rig::floats(), little));
      const auto sum = builder.build({{"out", plus_little}}).get();
      const auto run = [&](const Graph& graph, float value, float& result) {
        return comes([&] {
          rig.write(rig.in, value);
          rig.dispatch(graph, rig.in, rig.out);
          result = rig.read(rig.out);
          return rig.ran_here() == helping;
        });
      };
      helped = run(rig.graph, std::numeric_limits<float>::denorm_min(), subnormal) && helped;
      helped = run(sum, 1.0F, rounded) && helped;
    }
    const bool kept = (_mm_getcsr() & modes) == odd;
    _mm_setcsr(before);
    BOOST_TEST(helped);
    BOOST_TEST(kept);
    BOOST_TEST(subnormal == 2 * std::numeric_limits<float>::denorm_min());
    BOOST_TEST(rounded == 1.0F);
  }
}

BOOST_AUTO_TEST_CASE(a_callers_number_of_openmp_threads_stays_its_own) {
  Awaited rig;
  const int before = omp_get_max_threads();
  omp_set_num_threads(3);
  BOOST_TEST(rig.comes_to_help());
  BOOST_TEST(omp_get_max_threads() == 3);
  omp_set_num_threads(before);
}

BOOST_AUTO_TEST_CASE(callbacks_never_run_on_a_thread_that_helps) {
  Awaited rig;
  BOOST_REQUIRE(rig.comes_to_help());
  std::atomic<int> here{0}, there{0};
  const auto me = std::this_thread::get_id();
  bool helped = false;
  for (int i = 0; i < 1000; ++i) {
    rig.dispatch(rig.graph, rig.in, rig.out);
    rig.context.read_tensor(rig.out).then(
        [&](const auto&) { ++(std::this_thread::get_id() == me ? here : there); });
    static_cast<void>(rig.read(rig.out));
    helped = helped || rig.ran_here();
  }
  BOOST_TEST(rig.runtime.shutdown().empty());
  BOOST_TEST(helped);
  BOOST_TEST(here == 0);
  BOOST_TEST(there == 1000);
}

BOOST_AUTO_TEST_CASE(a_callback_may_wait_and_help) {
  Awaited rig;
  std::atomic<int> done{0};
  for (int i = 0; i < 100; ++i) {
    rig.dispatch(rig.graph, rig.in, rig.out);
    rig.context.read_tensor(rig.out).then([&](const auto&) {
      static_cast<void>(rig.call(1));
      ++done;
    });
    static_cast<void>(rig.read(rig.in));
  }
  BOOST_TEST(comes([&] { return done == 100; }));
}

BOOST_AUTO_TEST_CASE(many_wait_for_one_context) {
  Awaited rig;
  std::atomic<int> wrong{0};
  {
    std::vector<std::jthread> clients;
    for (int client = 0; client < 4; ++client)
      clients.emplace_back([&, client] {
        const auto in = rig.tensor(), out = rig.tensor();
        for (int i = 0; i < 2000; ++i) {
          const auto value = static_cast<float>(client * 10000 + i);
          rig.write(in, value);
          rig.dispatch(rig.graph, in, out);
          if (rig.read(out) != 2 * value) ++wrong;
        }
      });
  }
  BOOST_TEST(wrong == 0);
  BOOST_TEST(rig.runtime.shutdown().empty());
}

/// Makes calls with `most` in flight, and waits for the oldest before each one. Returns how often
/// the last kernel had run on another thread when the wait was over.
int windowed_calls(Awaited& rig, int count, std::size_t most = 8) {
  std::deque<Future<Buffer>> window;
  int elsewhere = 0;
  const auto wait = [&] {
    static_cast<void>(window.front().get());
    window.pop_front();
    if (!rig.ran_here()) ++elsewhere;
  };
  for (int i = 0; i < count; ++i) {
    rig.write(rig.in, 1);
    rig.dispatch(rig.graph, rig.in, rig.out);
    window.push_back(rig.context.read_tensor(rig.out));
    if (window.size() == most) wait();
  }
  while (!window.empty()) wait();
  return elsewhere;
}

// The reply is there, and others of this thread's wait in the same lane.
BOOST_AUTO_TEST_CASE(what_a_caller_leaves_is_done_though_it_does_not_wait_again) {
  Awaited rig;
  for (int i = 0; i < 200; ++i) {
    std::vector<Future<Buffer>> reads;
    for (int k = 0; k < 3; ++k) {
      rig.dispatch(rig.graph, rig.in, rig.out);
      reads.push_back(rig.context.read_tensor(rig.out));
    }
    static_cast<void>(reads[0].get());
    BOOST_TEST_REQUIRE(comes([&] { return reads[1].ready() && reads[2].ready(); }));
  }
}

// With few in flight and with many: three threads that pass them to and fro take ten times as long.
BOOST_AUTO_TEST_CASE(calls_on_their_way_stay_with_who_waits) {
#if !defined(__OPTIMIZE__) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  std::cout << "skipped: only what takes some microseconds is done so, and nothing does here\n";
#else
  for (const std::size_t most : {2U, 8U, 32U, 128U}) {
    Awaited rig;
    BOOST_TEST(comes([&] { return windowed_calls(rig, 300, most) < 30; }), most << " on their way");
  }
#endif
}

// Its inputs are written on one lane, which nobody else has anything to do on.
BOOST_AUTO_TEST_CASE(with_lanes_who_waits_runs_what_it_called) {
  Awaited rig({.lanes = 3});
  GraphBuilder builder(rig.context);
  const auto sum = builder
                       .build({{"out", builder.add(builder.input("a", Rig::floats()),
                                                   builder.input("b", Rig::floats()))}})
                       .get();
  const auto a = rig.tensor(), b = rig.tensor();
  const auto all_run_here = [&] {
    for (int i = 0; i < 20; ++i) {
      rig.write(a, 1);
      rig.write(b, 2);
      rig.context.dispatch(sum, {{"a", a}, {"b", b}}, {{"out", rig.out}});
      BOOST_REQUIRE_EQUAL(rig.read(rig.out), 3);
      if (!rig.ran_here()) return false;
    }
    return true;
  };
  BOOST_TEST(comes(all_run_here));
}

// It ended early: the next one may take as long as it likes.
BOOST_AUTO_TEST_CASE(a_run_that_failed_tells_nothing_of_its_length) {
  for (int i = 0; i < 30; ++i) {
    Awaited rig;
    rig.faults->fail(FaultPoint::execute, 1, {});
    rig.dispatch(rig.graph, rig.in, rig.out);
    BOOST_TEST(!rig.context.read_tensor(rig.out).take().has_value());
    BOOST_REQUIRE_EQUAL(rig.call(1), 2);
    BOOST_TEST_REQUIRE(!rig.ran_here(), "rig " << i);
  }
}

// The lane does the rest when a thread has done enough for others, or does not come back.
BOOST_AUTO_TEST_CASE(what_a_helper_leaves_is_done_without_it) {
  Awaited rig;
  for (int i = 0; i < 20; ++i) {
    windowed_calls(rig, 64);
    rig.dispatch(rig.graph, rig.in, rig.out);
    auto awaited = rig.context.read_tensor(rig.out);
    for (int k = 0; k < 40; ++k) rig.dispatch(rig.graph, rig.in, rig.out);
    static_cast<void>(awaited.get());
    BOOST_REQUIRE(comes([&] { return rig.context.stats().in_flight == 0; }));
  }
}

// A thread that waits regularly keeps its context's job for itself, and others have called
// meanwhile.
BOOST_AUTO_TEST_CASE(callbacks_of_others_come_without_who_helps) {
  Awaited rig;
  std::atomic<int> answered{0};
  constexpr int rounds = 300;
  for (int i = 0; i < rounds; ++i) {
    windowed_calls(rig, 12);
    std::jthread other([&] {
      rig.dispatch(rig.graph, rig.in, rig.out);
      rig.context.read_tensor(rig.out).then([&](const auto&) { ++answered; });
    });
    rig.dispatch(rig.graph, rig.in, rig.out);
    static_cast<void>(rig.read(rig.out));
    other.join();
    BOOST_REQUIRE(comes([&] { return answered == i + 1; }));
  }
}

// The thread that computes does not change a result.
BOOST_AUTO_TEST_CASE(several_clients_with_calls_on_their_way) {
  for (const int lanes : {1, 2, 3}) {
    Awaited rig({.lanes = lanes});
    std::atomic<int> wrong{0};
    std::vector<std::jthread> clients;
    for (int client = 0; client < 3; ++client)
      clients.emplace_back([&, client] {
        std::deque<std::pair<float, Future<Buffer>>> window;
        std::vector<Tensor> in, out;
        for (int k = 0; k < 8; ++k) {
          in.push_back(rig.tensor());
          out.push_back(rig.tensor());
        }
        for (std::size_t i = 0; i < 1500; ++i) {
          const auto value = static_cast<float>(static_cast<std::size_t>(client) * 10000 + i);
          rig.write(in[i % 8], value);
          rig.dispatch(rig.graph, in[i % 8], out[i % 8]);
          window.emplace_back(2 * value, rig.context.read_tensor(out[i % 8]));
          if (window.size() < 8) continue;
          const auto got = window.front().second.get();
          if (got.as<float>()[0] != window.front().first) ++wrong;
          window.pop_front();
        }
      });
    clients.clear();
    BOOST_TEST(wrong == 0, wrong << " with " << lanes << " lanes");
    BOOST_TEST(rig.runtime.shutdown().empty());
  }
}

BOOST_AUTO_TEST_CASE(contexts_come_and_go_under_those_who_wait) {
  Rig rig;
  std::vector<std::jthread> clients;
  for (int client = 0; client < 3; ++client)
    clients.emplace_back([&, client] {
      for (int i = 0; i < 60; ++i) {
        auto context = rig.runtime.create_context().get();
        const auto t = context.create_tensor(Rig::floats()).get();
        context.write_tensor(t, std::vector<float>(4, 1));
        auto read = context.read_tensor(t);
        std::jthread end;
        if ((i + client) % 2 == 0) end = std::jthread([context]() mutable { context.destroy(); });
        static_cast<void>(read.take());
        static_cast<void>(t.error().take());
      }
    });
  clients.clear();
  BOOST_TEST(rig.runtime.shutdown().empty());
}

BOOST_AUTO_TEST_CASE(an_event_loop_helps_without_waiting) {
  Awaited rig;
  const bool helped = comes([&] {
    rig.write(rig.in, 2);
    rig.dispatch(rig.graph, rig.in, rig.out);
    const auto reply = rig.context.read_tensor(rig.out);
    while (!reply.help()) {
    }
    return rig.ran_here();
  });
  BOOST_TEST(helped);
  // A reply that another thread's kernel holds up: help() comes back each time.
  const StuckHelper stuck(rig);
  const auto late = rig.context.read_tensor(rig.in);
  BOOST_TEST(!late.help());
  BOOST_TEST(!late.help());
  stuck.gate->open();
  late.wait();
  BOOST_TEST(late.help());
  BOOST_CHECK_THROW(static_cast<void>(Future<Buffer>().help()), Error);
}

BOOST_AUTO_TEST_SUITE_END()
