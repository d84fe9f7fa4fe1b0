// Callers that are blocked at an admission limit, and how that ends: clauses "load" of
// docs/contract.md, on real threads. Kernels that a test holds up keep the permits.
#include <algorithm>
#include <atomic>
#include <thread>

#include "tests/api/fixture.hpp"
#include "tests/patience.hpp"
#include "tests/rig.hpp"

using namespace polychron;
using namespace polychron::testing;
using namespace std::chrono_literals;
using stress::FaultPoint;

namespace {

ContextOptions places(std::uint64_t most, AdmissionPolicy policy = AdmissionPolicy::block) {
  ContextOptions options;
  options.max_in_flight = most;
  options.admission = policy;
  return options;
}

/// A context whose only permit is taken by a kernel that the test holds up.
struct Full : Rig {
  explicit Full(const ContextOptions& options, ErrorKind fault = ErrorKind::out_of_memory)
      : Rig(options) {
    graph = twice();
    in = tensor();
    out = tensor();
    for (int i = 0; i < 8; ++i) spare.push_back(tensor());
    BOOST_REQUIRE(comes([&] { return context.stats().in_flight == 0; }));
    faults->fail(FaultPoint::execute, 1, {.kind = fault, .until = gate.latch()});
    for (std::uint64_t i = 0; i < options.max_in_flight; ++i) dispatch(graph, in, out);
    BOOST_REQUIRE(context.stats().in_flight == options.max_in_flight);
  }
  ~Full() {
    gate.open();
    blocked.clear();
  }
  /// Makes `call` on a thread of its own, and waits until it is blocked.
  template <class Call>
  void block(Call call) {
    const auto before = context.stats().blocked;
    blocked.emplace_back([this, call] {
      try {
        call();
        ++passed;
      } catch (const Error& error) {
        const std::lock_guard lock(mutex);
        thrown.push_back(error);
      }
    });
    BOOST_REQUIRE(comes([&] { return context.stats().blocked == before + 1; }));
  }
  std::size_t over() {
    const std::lock_guard lock(mutex);
    return thrown.size() + passed;
  }

  Graph graph;
  Tensor in, out;
  std::vector<Tensor> spare;
  Gate gate;
  std::atomic<std::size_t> passed{0};
  std::mutex mutex;
  std::vector<Error> thrown;
  std::vector<std::jthread> blocked;
};

/// Makes `call` on another thread, while this one does `meanwhile`; what it threw.
template <class Call, class Meanwhile>
std::optional<Error> elsewhere(Call call, Meanwhile meanwhile) {
  std::optional<Error> thrown;
  {
    const std::jthread thread([&] {
      try {
        call();
      } catch (const Error& error) {
        thrown = error;
      }
    });
    meanwhile();
  }
  return thrown;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(admission)

BOOST_AUTO_TEST_CASE(who_is_blocked_first_is_let_in_first) {
  for (const std::uint64_t most : {1U, 2U, 3U}) {
    Full s(places(most));
    // Every dispatch fails: a tensor's error has the ticket of the call, and tells the order.
    s.faults->fail_randomly(FaultPoint::execute, 1, 1, {});
    for (std::size_t i = 0; i < 5; ++i) s.block([&s, i] { s.dispatch(s.graph, s.in, s.spare[i]); });
    s.gate.open();
    s.dispatch(s.graph, s.in, s.spare[5]);  // a newcomer
    BOOST_REQUIRE(comes([&] { return s.over() == 5; }));
    std::vector<std::uint64_t> tickets;
    for (std::size_t i = 0; i <= 5; ++i) {
      const auto error = s.spare[i].error().get();
      BOOST_REQUIRE(error.has_value());
      tickets.push_back(error->ticket());
    }
    // With several permits, calls that are admitted together may overtake each other.
    if (most == 1) BOOST_TEST(std::is_sorted(tickets.begin(), tickets.end()));
    BOOST_TEST(*std::min_element(tickets.begin(), tickets.end()) != tickets[5],
               "a newcomer overtook all who were blocked");
    BOOST_TEST(s.context.stats().peak_in_flight <= most);
  }
}

BOOST_AUTO_TEST_CASE(nobody_starves_among_many) {
  for (const std::uint64_t most : {1U, 2U, 5U})
    for (const int lanes : {1, 2}) {
      auto options = places(most);
      options.lanes = lanes;
      Rig rig(options);
      constexpr int clients = 4, calls = 300;
      std::atomic<int> done{0};
      std::atomic<std::uint64_t> most_seen{0};
      {
        std::vector<std::jthread> threads;
        for (int i = 0; i < clients; ++i)
          threads.emplace_back([&] {
            const auto t = rig.tensor();
            for (int n = 0; n < calls; ++n) {
              rig.write(t, 1);
              const auto now = rig.context.stats().in_flight;
              auto seen = most_seen.load();
              while (seen < now && !most_seen.compare_exchange_weak(seen, now)) {
              }
              if (n % 10 == 0) static_cast<void>(rig.read(t));
            }
            ++done;
          });
      }
      BOOST_TEST(done == clients);
      BOOST_TEST(most_seen <= most);
      BOOST_TEST(comes([&] { return rig.context.stats().in_flight == 0; }));
    }
}

// -- the end of the wait --------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(who_is_blocked_when_the_context_goes_hears_of_it) {
  Full s(places(1));
  s.block([&] { s.write(s.spare[0], 1); });
  s.block([&] { s.dispatch(s.graph, s.in, s.spare[1]); });
  s.block([&] { s.context.read_tensor(s.spare[2]).take().value(); });
  s.block([&] { s.context.create_tensor(Rig::floats()).take().value(); });
  s.context.destroy();
  BOOST_REQUIRE(comes([&] { return s.over() == 4; }));  // the kernel still runs
  BOOST_TEST(s.passed == 0U);
  for (const auto& error : s.thrown)
    BOOST_TEST((error.kind() == ErrorKind::invalid_state), error.what());
}

BOOST_AUTO_TEST_CASE(who_is_blocked_when_the_device_is_lost_hears_of_it) {
  Full s(places(1), ErrorKind::context_lost);
  s.block([&] { s.write(s.spare[0], 1); });
  s.block([&] { s.dispatch(s.graph, s.in, s.spare[1]); });
  s.gate.open();
  BOOST_REQUIRE(comes([&] { return s.over() == 2; }));
  BOOST_TEST(s.passed == 0U);
  for (const auto& error : s.thrown)
    BOOST_TEST((error.kind() == ErrorKind::context_lost), error.what());
  BOOST_TEST(s.runtime.shutdown().empty());
  BOOST_TEST(s.context.stats().in_flight == 0U);
}

BOOST_AUTO_TEST_CASE(a_deadline_holds_while_blocked) {
  DispatchOptions options{.label = "late"};
  Full s(places(1));
  options.deadline = std::chrono::steady_clock::now() + 10ms;
  s.block([&] { s.dispatch(s.graph, s.in, s.spare[0], options); });
  BOOST_REQUIRE(comes([&] { return s.over() == 1; }));  // the kernel still runs
  BOOST_REQUIRE_EQUAL(s.thrown.size(), 1U);
  BOOST_TEST((s.thrown[0].kind() == ErrorKind::timed_out), s.thrown[0].what());
  s.gate.open();
  BOOST_TEST(s.read(s.spare[0]) == 0.0F);  // the call has changed nothing
  BOOST_TEST(comes([&] { return s.context.stats().in_flight == 0; }));
}

BOOST_AUTO_TEST_CASE(a_cancellation_holds_while_blocked) {
  Cancellation cancellation;
  DispatchOptions options{.label = "cancelled", .cancellation = cancellation};
  Full s(places(1));
  s.block([&] { s.dispatch(s.graph, s.in, s.spare[0], options); });
  s.block([&] { s.write(s.spare[1], 2); });  // behind it
  cancellation.cancel();
  BOOST_REQUIRE(comes([&] { return s.over() == 1; }));
  BOOST_REQUIRE_EQUAL(s.thrown.size(), 1U);
  BOOST_TEST((s.thrown[0].kind() == ErrorKind::aborted), s.thrown[0].what());
  s.gate.open();
  BOOST_REQUIRE(comes([&] { return s.over() == 2; }));
  BOOST_TEST(s.read(s.spare[1]) == 2.0F);
  BOOST_TEST(s.read(s.spare[0]) == 0.0F);
}

BOOST_AUTO_TEST_CASE(a_blocked_compute_that_is_cancelled_keeps_its_buffers) {
  Cancellation cancellation;
  NamedBuffers in, out;
  in.emplace_back("in", Buffer(16));
  out.emplace_back("out", Buffer(16));
  Full s(places(1));
  s.block([&] {
    static_cast<void>(
        s.context.compute(s.graph, std::move(in), std::move(out), {.cancellation = cancellation}));
  });
  cancellation.cancel();
  BOOST_REQUIRE(comes([&] { return s.over() == 1; }));
  BOOST_REQUIRE_EQUAL(s.thrown.size(), 1U);
  BOOST_TEST((s.thrown[0].kind() == ErrorKind::aborted), s.thrown[0].what());
  BOOST_REQUIRE_EQUAL(in.size(), 1U);
  BOOST_TEST(in[0].second.size() == 16U);
  BOOST_TEST(out[0].second.size() == 16U);
}

// -- bytes ----------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(a_tensor_of_more_than_half_of_the_limit_can_be_written) {
  ContextOptions options;
  options.memory_limit = 24;
  for (const auto policy : {AdmissionPolicy::block, AdmissionPolicy::fail}) {
    options.admission = policy;
    Rig rig(options);
    const auto t = rig.tensor();
    for (int i = 1; i <= 10; ++i) {
      rig.write(t, static_cast<float>(i));
      BOOST_TEST(rig.read(t) == static_cast<float>(i));
      BOOST_REQUIRE(comes([&] { return rig.context.stats().in_flight == 0; }));
    }
    BOOST_TEST(rig.context.stats().peak_bytes <= 24U);
  }
}

BOOST_AUTO_TEST_CASE(writers_who_race_for_bytes_are_not_refused) {
  ContextOptions options;
  options.memory_limit = 48;  // two tensors, and one write in flight
  Rig rig(options);
  const auto a = rig.tensor(), b = rig.tensor();
  std::atomic<int> refused{0};
  {
    std::vector<std::jthread> threads;
    for (const auto& t : {a, b})
      threads.emplace_back([&rig, &refused, t] {
        for (int i = 0; i < 2000; ++i) {
          try {
            rig.write(t, static_cast<float>(i));
          } catch (const Error&) {
            ++refused;
          }
        }
      });
  }
  BOOST_TEST(refused == 0);
  BOOST_TEST(rig.read(a) == 1999.0F);
  BOOST_TEST(rig.read(b) == 1999.0F);
  BOOST_TEST(rig.context.stats().peak_bytes <= 48U);
}

BOOST_AUTO_TEST_CASE(creations_beyond_the_limit_are_refused_and_never_block) {
  auto options = places(4);
  options.memory_limit = 12 * 16 - 8;
  Full s(options);  // ten tensors are there
  s.gate.open();
  const auto fits = reply(s.context.create_tensor(Rig::floats()));
  BOOST_TEST(static_cast<bool>(fits));
  refuses(ErrorKind::out_of_memory, s.context.create_tensor(Rig::floats()));
  s.spare[0].destroy();
  BOOST_TEST(comes([&] { return s.context.stats().tensors == 10; }));
  BOOST_TEST(static_cast<bool>(reply(s.context.create_tensor(Rig::floats()))));
}

BOOST_AUTO_TEST_CASE(a_write_without_room_for_its_copy_keeps_its_place_in_the_order) {
  auto options = places(8);
  options.memory_limit = 10 * 16 + 8;
  Full s(options);
  // Behind the dispatches that write `out`.
  const auto error = elsewhere([&] { s.write(s.out, 5); }, [&] { s.gate.open(); });
  BOOST_TEST(!error.has_value());
  BOOST_TEST(s.read(s.out) == 5.0F);
}

BOOST_AUTO_TEST_CASE(a_write_without_room_for_its_copy_hears_of_the_end) {
  auto options = places(8);
  options.memory_limit = 10 * 16 + 8;
  Full s(options);
  const auto error = elsewhere([&] { s.write(s.spare[0], 5); }, [&] { s.context.destroy(); });
  // It may have been handed over before.
  if (error) BOOST_TEST((error->kind() == ErrorKind::invalid_state), error->what());
  s.gate.open();
  BOOST_TEST(s.runtime.shutdown().empty());
  BOOST_TEST(s.context.stats().in_flight == 0U);
}

BOOST_AUTO_TEST_CASE(in_policy_fail_a_write_without_room_for_its_copy_is_refused_while_work_is_on) {
  auto options = places(8, AdmissionPolicy::fail);
  options.memory_limit = 10 * 16 + 8;
  Rig rig(options);
  std::vector<Tensor> tensors;
  for (int i = 0; i < 10; ++i) tensors.push_back(rig.tensor());
  const auto g = rig.twice();
  Gate gate;
  rig.faults->fail(FaultPoint::execute, 1, {.until = gate.latch()});
  rig.dispatch(g, tensors[0], tensors[1]);
  throws(ErrorKind::quota_exceeded, [&] { rig.write(tensors[2], 5); });
  gate.open();
  BOOST_REQUIRE(comes([&] { return rig.context.stats().in_flight == 0; }));
  rig.write(tensors[2], 5);
  BOOST_TEST(rig.read(tensors[2]) == 5.0F);
}

BOOST_AUTO_TEST_SUITE_END()
