// A process that forks with a live runtime. The child has none of its threads: every call there is
// refused, nothing waits, and the runtime can be destroyed. The parent goes on.
#include "tests/api/fixture.hpp"
#include "tests/forked.hpp"
#include "tests/patience.hpp"
#include "tests/rig.hpp"
#include "tests/task.hpp"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)

BOOST_AUTO_TEST_SUITE(forks)

// The child's first allocation may wait for a lock of the sanitizer's that another thread of the
// parent's had as it forked (AddressSanitizer: StackDepot's).
BOOST_AUTO_TEST_CASE(are_not_for_sanitizers) {
  BOOST_TEST_MESSAGE("skipped: sanitizers do not follow the fork of a process with threads");
}

BOOST_AUTO_TEST_SUITE_END()

#else

using namespace polychron;
using namespace polychron::testing;

namespace {

constexpr const char* no_drivers = "OpenCL drivers do not survive a fork";

/// Fails the test if the child did.
void in_child(const std::function<void(Forked&)>& steps) {
  const auto failed = Forked::run(steps);
  BOOST_TEST(failed.empty(), "in the child: " << failed);
}

/// Everything that a handle of before the fork can be asked for.
struct Inherited : Rig {
  explicit Inherited(const ContextOptions& options = {}) : Rig(options) {}

  NamedBuffers buffers(const char* name) const {
    NamedBuffers named;
    named.emplace_back(name, Buffer(16));
    return named;
  }
  Future<ComputeResult> compute() { return context.compute(graph, buffers("in"), buffers("out")); }
  /// True if the call's buffer comes back with invalid_state.
  static bool comes_back(Future<ReadResult> reply) {
    const auto read = reply.get();
    return read.buffer.size() == 16 && !read.status &&
           read.status.error().kind() == ErrorKind::invalid_state;
  }

  void refuse_in(Forked& child) {
    child.refuses("write", [&] { write(a, 1); });
    child.refuses("write of a buffer", [&] { context.write_tensor(a, Buffer(16)); });
    child.refuses("read", [&] { return context.read_tensor(a); });
    child.expect("read into a buffer",
                 [&] { return comes_back(context.read_tensor(a, Buffer(16))); });
    std::vector<std::byte> bytes(16);
    child.refuses("read into memory", [&] { return context.read_tensor(a, std::span(bytes)); });
    child.refuses("dispatch", [&] { dispatch(graph, a, b); });
    child.refuses("compute", [&] { return compute(); });
    child.refuses("creation", [&] { return context.create_tensor(floats()); });
    child.refuses("constant", [&] { return context.create_constant_tensor(floats(), Buffer(16)); });
    child.refuses("export", [&] { return context.export_tensor(b); });
    child.refuses("query", [&] { return a.error(); });
    child.refuses("pending", [&] { return context.pending(); });
    child.refuses("push", [&] { context.push_error_scope(ErrorFilter::internal); });
    child.refuses("pop", [&] { return context.pop_error_scope(); });
    child.refuses("lost", [&] { return context.lost(); });
    child.refuses("build", [&] { return build(); });
    child.refuses("build that was begun", [&] {
      return builder.build({{"out", builder.add(begun, begun)}});
    });
    child.refuses("context", [&] { return runtime.create_context(); });
    child.refuses("trace", [&] { runtime.trace(); });
    child.refuses("start of a trace", [&] { runtime.start_trace(); });
    child.refuses("bytes of a lease", [&] { lease.bytes(); });
    child.refuses("callback of a lease", [&] { lease.on_revoked([] {}); });
    child.refuses("cancellation", [&] {
      Rig own;
      const auto t = own.tensor();
      own.context.write_tensor(t, std::vector<float>(4), {.cancellation = cancellation});
    });
    child.refuses("pending reply", [&] { pending.get(); });
    child.expect("what promises nothing", [&] {
      context.on_uncaptured_error([](const Error&) {});
      context.log(LogLevel::error, "from the child");
      context.set_traced(false);
      runtime.stop_trace();
      cancellation.cancel();
      return cancellation.cancelled() && lease.revoked() && context.stats().reads > 0 &&
             runtime.callback_exceptions() == 0 && runtime.shutdown().empty();
    });
  }

  Graph graph = twice();
  Tensor a = tensor(), b = tensor(), leased = tensor();
  GraphBuilder builder{context};
  Operand begun = builder.input("in", floats());
  TensorLease lease = context.export_tensor(leased).get();
  Future<Buffer> pending = context.read_tensor(leased);
  Cancellation cancellation;
};

/// A thread that does one thing until this goes.
class Repeated {
 public:
  explicit Repeated(std::function<void()> work)
      : thread_([this, work = std::move(work)] {
          while (!ended_) work();
        }) {}
  Repeated(const Repeated&) = delete;
  Repeated& operator=(const Repeated&) = delete;
  ~Repeated() {
    ended_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> ended_{false};
  std::thread thread_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(forks)

BOOST_AUTO_TEST_CASE(calls_in_the_child_are_refused) {
  if (needs_the_processor(no_drivers)) return;
  Inherited rig;
  in_child([&](Forked& child) { rig.refuse_in(child); });
  rig.write(rig.a, 3);
  BOOST_TEST(rig.read(rig.a) == 3.0F);
  BOOST_TEST(!rig.cancellation.cancelled());
  rig.lease.return_now();
  BOOST_TEST(static_cast<bool>(reply(std::move(rig.pending))));
}

// At the moment of the fork other threads have any lock that these calls take.
BOOST_AUTO_TEST_CASE(calls_in_the_child_wait_for_no_lock) {
  if (needs_the_processor(no_drivers)) return;
  Inherited rig({.lanes = 2, .max_in_flight = 2});
  rig.pending.help();
  std::atomic<std::uint64_t> called_back{0};
  const auto requests = [&](const Tensor& own) {
    return [&, own] {
      rig.write(own, 1);
      rig.context.read_tensor(own).then([&](const Result<Buffer>&) { ++called_back; });
      static_cast<void>(rig.read(own));
      rig.context.write_tensor(own, std::vector<float>(4), {.cancellation = rig.cancellation});
      static_cast<void>(rig.context.lost());
      rig.context.log(LogLevel::info, "busy");
    };
  };
  {
    // Of the two permits the read behind the lease has one.
    const Repeated first(requests(rig.tensor())), second(requests(rig.tensor()));
    const Repeated leases([&] { rig.lease.on_revoked([] {}); });
    for (int i = 0; i < 40; ++i) in_child([&](Forked& child) { rig.refuse_in(child); });
  }
  BOOST_TEST(called_back > 0U);
}

BOOST_AUTO_TEST_CASE(refusals_reach_callbacks_and_coroutines_at_once) {
  if (needs_the_processor(no_drivers)) return;
  Inherited rig;
  in_child([&](Forked& child) {
    const auto read = [&] { return rig.context.read_tensor(rig.a); };
    child.expect("ready", [&] { return read().ready(); });
    child.expect("help", [&] { return read().help(); });
    child.expect("wait", [&] {
      read().wait();
      return true;
    });
    child.expect("then", [&] {
      bool refused = false;
      read().then([&](const Result<Buffer>& result) {
        refused = !result && result.error().kind() == ErrorKind::invalid_state;
      });
      return refused;
    });
    const auto awaits = [](Future<Buffer> reply) -> Task { co_await std::move(reply); };
    child.refuses("co_await", [&] { awaits(read()).end.get(); });
    child.refuses("co_await of a reply that was pending",
                  [&] { awaits(std::move(rig.pending)).end.get(); });
    auto own = rig.context.lost();
    child.refuses("then of a reply of before", [&] {
      auto before = std::move(rig.pending);
      before.then([](const Result<Buffer>&) {});
    });
  });
}

BOOST_AUTO_TEST_CASE(promises_of_before_are_settled_by_nobody_in_the_child) {
  const auto promise = std::make_unique<Promise<int> >();
  auto future = promise->future();
  in_child([&](Forked& child) {
    child.expect("resolve", [&] { return !promise->resolve(1); });
    child.expect("reject", [&] { return !promise->reject({ErrorKind::aborted, "no"}); });
    child.refuses("get", [&] { future.get(); });
  });
  BOOST_TEST(promise->resolve(2));
  BOOST_TEST(future.get() == 2);
}

BOOST_AUTO_TEST_CASE(a_recording_stays_with_the_parent) {
  if (needs_the_processor(no_drivers)) return;
  Embedder embedder;
  embedder.runtime.start_trace();
  embedder.tensor({1.0F});
  in_child([&](Forked& child) {
    child.refuses("trace", [&] { embedder.runtime.trace(); });
    child.refuses("start", [&] { embedder.runtime.start_trace(); });
    child.expect("a recording of its own", [&] {
      embedder.runtime.stop_trace();
      Embedder own;
      own.runtime.start_trace();
      own.tensor({2.0F});
      return !own.runtime.trace().empty();
    });
  });
  BOOST_TEST(!embedder.runtime.trace().empty());
}

BOOST_AUTO_TEST_CASE(the_end_of_everything_is_an_end_in_the_child) {
  if (needs_the_processor(no_drivers)) return;
  auto rig = std::make_unique<Inherited>(ContextOptions{.threads = 2});
  in_child([&](Forked& child) {
    child.expect("destroy()", [&] {
      rig->a.destroy();
      rig->graph.destroy();
      rig->builder.destroy();
      rig->lease.return_now();
      rig->context.destroy();
      return rig->runtime.shutdown().empty();
    });
    child.expect("the end of the handles", [&] {
      rig.reset();
      return true;
    });
  });
  rig->lease.return_now();
  BOOST_TEST(static_cast<bool>(reply(std::move(rig->pending))));
  BOOST_TEST(rig->runtime.shutdown().empty());
}

// Nothing but handles is left of the context, whose threads they would end.
BOOST_AUTO_TEST_CASE(handles_of_an_ended_context_end_in_the_child) {
  if (needs_the_processor(no_drivers)) return;
  Runtime runtime;
  auto context =
      std::make_unique<Context>(runtime.create_context({.threads = 2, .lanes = 2}).get());
  context->destroy();
  BOOST_TEST(runtime.shutdown().empty());
  in_child([&](Forked& child) {
    child.expect("the end of the handle", [&] {
      context.reset();
      return true;
    });
  });
}

BOOST_AUTO_TEST_CASE(a_child_may_have_a_runtime_of_its_own) {
  if (needs_the_processor(no_drivers)) return;
  Rig rig;
  in_child([](Forked& child) {
    child.expect("a runtime of its own", [] {
      Rig own;
      const auto t = own.tensor(), u = own.tensor();
      own.write(t, 4);
      own.dispatch(own.twice(), t, u);
      return own.read(u) == 8.0F;
    });
  });
}

BOOST_AUTO_TEST_SUITE_END()

#endif
