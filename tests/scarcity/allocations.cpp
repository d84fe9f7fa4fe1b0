// Allocations that fail, one by one: on the library's threads, and in the caller's own calls. After
// every failure all replies settle, no permit is lost, and every runtime ends.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <functional>
#include <map>

#include "runtime/handles.hpp"
#include "runtime/local_port.hpp"
#include "tests/patience.hpp"
#include "tests/rig.hpp"
#include "tests/scarcity/scarce.hpp"

using namespace polychron;
using namespace polychron::testing;

namespace {

/// Replies of any sort, and which of them have not come.
class Replies {
 public:
  template <class T>
  void add(const std::string& name, Future<T> future) {
    const auto kept = std::make_shared<Future<T>>(std::move(future));
    ready_.emplace_back(name, [kept] { return kept->ready(); });
  }
  bool all_come() const {
    return comes([this] { return missing().empty(); });
  }
  std::size_t left() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(ready_, [](const auto& reply) { return !reply.second(); }));
  }
  std::string missing() const {
    std::string names;
    for (const auto& [name, ready] : ready_)
      if (!ready()) names += " '" + name + "'";
    return names;
  }
  /// A lease among them keeps its memory as long as it is there.
  void drop() { ready_.clear(); }

 private:
  std::vector<std::pair<std::string, std::function<bool()>>> ready_;
};

/// The permits of a context that are taken, in all classes, and whether a caller waits for one.
std::uint64_t places_of(const Context& context) {
  const auto& port = *detail::ContextHandle::of(context)->port;
  std::uint64_t taken = 0;
  for (const auto* door : dynamic_cast<const detail::LocalPort&>(port).environment()->admissions())
    taken += door->in_flight() + (door->anybody_waits() ? 1U : 0U);
  return taken;
}

/// Two lanes, so that operations wait for each other too.
ContextOptions two_lanes() {
  ContextOptions options;
  options.lanes = 2;
  return options;
}

/// A typical client's work, on a rig of its own.
struct Client : Rig {
  Client() : Rig(two_lanes()) {
    graph = twice();
    for (auto* t : {&a, &b, &leased, &doomed}) *t = tensor();
    lease = context.export_tensor(leased).get();
    static_cast<void>(read(a));
  }
  void everything(Replies& replies) {
    context.on_uncaptured_error([](const Error&) {});
    context.push_error_scope(ErrorFilter::out_of_memory);
    write(a, 1);
    dispatch(graph, a, b);
    replies.add("read", context.read_tensor(b));
    dispatch(graph, leased, doomed);
    replies.add("read behind a lease", context.read_tensor(doomed));
    replies.add("read into a buffer", context.read_tensor(leased, Buffer(16)));
    replies.add("query", b.error());
    replies.add("creation", context.create_tensor(floats()));
    replies.add("constant", context.create_constant_tensor(floats(), Buffer(16)));
    replies.add("export", context.export_tensor(b));
    replies.add("pop", context.pop_error_scope());
    replies.add("pending", context.pending());
    NamedBuffers in, out;
    in.emplace_back("in", Buffer(16));
    out.emplace_back("out", Buffer(16));
    replies.add("compute", context.compute(graph, std::move(in), std::move(out)));
    replies.add("build", build());
    doomed.destroy();
    graph.destroy();
  }

  Graph graph;
  Tensor a, b, leased, doomed;
  TensorLease lease;
};

/// The error after the `nth` allocation has failed, or nothing. `happened`: it was reached.
std::string after_failure(std::int64_t nth, bool& happened) {
  auto client = std::make_unique<Client>();
  Replies replies;
  LibraryAllocationFails failing(nth);
  try {
    client->everything(replies);
  } catch (const Error& error) {
    // The context may be lost already.
    if (error.kind() == ErrorKind::type_error) return error.what();
  }
  // Except the read of the leased tensor, and the scope in which a caller waits for that.
  comes([&] { return failing.happened() || replies.left() <= 2; });
  client->lease.return_now();
  const bool settled = replies.all_come();
  failing.end();
  happened = failing.happened();
  std::string wrong;
  if (!settled) wrong = "these replies never come:" + replies.missing();
  if (wrong.empty())
    for (const auto& remaining : client->runtime.shutdown(std::chrono::seconds(20)))
      wrong += " " + remaining.actor + " stays";
  if (!wrong.empty()) {
    static_cast<void>(client.release());  // its end would not end
    return wrong;
  }
  replies.drop();
  const auto stats = client->context.stats();
  if (stats.in_flight != 0) wrong = "in_flight is " + std::to_string(stats.in_flight);
  if (stats.tensors != 0 || stats.graphs != 0) wrong += "objects are alive";
  if (stats.bytes != 0) wrong += "bytes is " + std::to_string(stats.bytes);
  if (client->context.lost().take().value().message.empty()) wrong += "the loss has no reason";
  return wrong;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(allocations)

BOOST_AUTO_TEST_CASE(on_a_thread_of_the_library) {
  int misses = 0, wrongs = 0;
  std::int64_t nth = 1;
  // The number of allocations varies with the threads. Ends when several rounds had fewer.
  for (; misses < 5 && nth < 400; ++nth) {
    bool happened = false;
    const auto wrong = after_failure(nth, happened);
    BOOST_TEST(wrong.empty(), "allocation " << nth << ": " << wrong);
    if (!wrong.empty() && ++wrongs == 3) break;  // each may take long
    misses = happened ? 0 : misses + 1;
  }
  BOOST_TEST_MESSAGE(nth - 1 << " allocations");
  BOOST_TEST(nth > 20);
}

// The home thread spawns the actors, lanes take their first steps, and the context hears of them.
BOOST_AUTO_TEST_CASE(while_a_context_is_made) {
  int misses = 0;
  std::int64_t nth = 1;
  for (; misses < 5 && nth < 200; ++nth) {
    Runtime runtime;
    LibraryAllocationFails failing(nth);
    auto made = runtime.create_context(two_lanes());
    BOOST_REQUIRE_MESSAGE(comes([&] { return made.ready(); }), "allocation " << nth);
    auto context = made.take();
    if (context) {
      // It is there, or lost for a reason.
      const auto pending = context->pending();
      BOOST_TEST(comes([&] { return pending.ready(); }), "allocation " << nth);
    } else {
      BOOST_TEST((context.error().kind() == ErrorKind::out_of_memory), context.error().what());
    }
    failing.end();
    misses = failing.happened() ? 0 : misses + 1;
    const auto another = runtime.create_context(two_lanes()).take();
    BOOST_TEST(static_cast<bool>(another), "after allocation " << nth);
    const auto remaining = runtime.shutdown(std::chrono::seconds(20));
    BOOST_TEST(remaining.empty(), "after allocation " << nth << " somebody stays");
  }
  BOOST_TEST_MESSAGE(nth - 1 << " allocations");
  BOOST_TEST(nth > 20);
}

BOOST_AUTO_TEST_CASE(in_a_call_no_place_is_lost) {
  ContextOptions options;
  options.max_in_flight = 4;
  Rig rig(options);
  const auto g = rig.twice();
  const auto t = rig.tensor(), u = rig.tensor();
  const std::vector<float> values(4, 1);
  const std::map<std::string, std::function<void()>> calls{
      {"write", [&] { rig.context.write_tensor(t, values); }},
      {"read", [&] { static_cast<void>(rig.context.read_tensor(t)); }},
      {"query", [&] { static_cast<void>(t.error()); }},
      {"export", [&] { static_cast<void>(rig.context.export_tensor(t)); }},
      {"create", [&] { static_cast<void>(rig.context.create_tensor(Rig::floats())); }},
      {"dispatch", [&] { rig.dispatch(g, t, u); }},
      {"build", [&] { static_cast<void>(rig.build()); }},
      {"scope",
       [&] {
         rig.context.push_error_scope(ErrorFilter::validation);
         if (!reply(rig.context.pop_error_scope()))  // it is still open
           static_cast<void>(rig.context.pop_error_scope());
       }},
      {"pending", [&] { static_cast<void>(rig.context.pending()); }},
      {"handler", [&] { rig.context.on_uncaptured_error([](const Error&) {}); }},
      {"mistake", [&] { rig.context.write_tensor(t, std::vector<float>(3)); }},
      {"compute", [&] {
         NamedBuffers in, out;
         in.emplace_back("in", Buffer(16));
         out.emplace_back("out", Buffer(16));
         static_cast<void>(rig.context.compute(g, std::move(in), std::move(out)));
       }}};
  for (const auto& [name, call] : calls) {
    bool happened = true;
    for (std::int64_t nth = 1; happened && nth < 300; ++nth) {
      {
        OwnAllocationFails failing(nth);
        try {
          call();
        } catch (const Error&) {
        } catch (const std::bad_alloc&) {
        }
        happened = failing.happened();
      }
      BOOST_REQUIRE_MESSAGE(
          comes([&] { return places_of(rig.context) == 0; }),
          name << ", allocation " << nth << ": " << places_of(rig.context) << " places are lost");
    }
  }
  rig.write(t, 2);
  BOOST_TEST(rig.read(t) == 2.0F);
}

// A kernel that does not end has the only permit. The caller that waited for it has given up.
BOOST_AUTO_TEST_CASE(at_the_limit_nobody_is_left_waiting) {
  ContextOptions options;
  options.max_in_flight = 1;
  Rig rig(options);
  const auto g = rig.twice();
  const auto t = rig.tensor(), u = rig.tensor();
  Cancellation cancelled;
  cancelled.cancel();
  bool happened = true;
  for (std::int64_t nth = 1; happened && nth < 300; ++nth) {
    Gate gate;
    rig.faults->fail(stress::FaultPoint::execute, 1, {.until = gate.latch()});
    rig.dispatch(g, t, u);
    {
      OwnAllocationFails failing(nth);
      bool refused = false;
      try {
        rig.dispatch(g, t, u, {.cancellation = cancelled});
      } catch (const std::exception&) {
        refused = true;
      }
      BOOST_TEST(refused, "allocation " << nth << ": a cancelled call was taken");
      happened = failing.happened();
    }
    gate.open();
    BOOST_REQUIRE_MESSAGE(comes([&] { return places_of(rig.context) == 0; }),
                          "allocation " << nth << ": a place is lost, or somebody waits");
  }
  rig.write(t, 2);
  BOOST_TEST(rig.read(t) == 2.0F);
}

BOOST_AUTO_TEST_CASE(a_request_asks_for_memory_a_few_times) {
  // Each is freed by another thread: what is asked for here, threads wait for each other for.
  Rig rig;
  const auto g = rig.twice();
  const auto t = rig.tensor(), u = rig.tensor();
  const std::vector<float> values(4, 1);
  NamedBuffers in, out;
  struct Call {
    const char* name;
    std::function<void()> make;
    std::int64_t most;
  };
  const std::vector<Call> calls{
      {"write", [&] { rig.context.write_tensor(t, values); }, 3},
      {"dispatch", [&] { rig.dispatch(g, t, u); }, 3},
      {"read", [&] { static_cast<void>(rig.context.read_tensor(u)); }, 7},
      {"compute", [&] { static_cast<void>(rig.context.compute(g, std::move(in), std::move(out))); },
       12}};
  for (const auto& [name, make, most] : calls) {
    std::int64_t asked = 0;
    for (bool happened = true; happened && asked < 300; asked += happened) {
      in.clear(), out.clear();
      in.emplace_back("in", Buffer(16));
      out.emplace_back("out", Buffer(16));
      OwnAllocationFails failing(asked + 1);
      try {
        make();
      } catch (const std::exception& error) {
        BOOST_TEST(failing.happened(), name << " throws " << error.what());
      }
      happened = failing.happened();
    }
    BOOST_TEST(asked <= most, name << " asks for memory " << asked << " times");
  }
}

BOOST_AUTO_TEST_SUITE_END()
