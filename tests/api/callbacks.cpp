// User code in callbacks: it stays off the library's own threads, may wait, may take its time and
// may throw. Clauses "lifetimes" of docs/contract.md.
#include <atomic>
#include <coroutine>
#include <optional>
#include <stdexcept>

#include "tests/api/detached.hpp"
#include "tests/api/fixture.hpp"
#include "tests/patience.hpp"
#include "tests/rig.hpp"

using namespace polychron;
using namespace polychron::testing;
using stress::FaultPoint;

namespace {

/// Waits until callbacks have run.
struct Counter {
  void count() { ++*number; }
  bool reaches(int n) const {
    return comes([&] { return *number >= n; });
  }
  std::shared_ptr<std::atomic<int>> number = std::make_shared<std::atomic<int>>(0);
};

/// The context answers, and is not lost.
void lives(Rig& rig) {
  const auto t = rig.context.create_tensor(Rig::floats()).take();
  if (!t) BOOST_FAIL(t.error().what());
  rig.write(t.value(), 3);
  BOOST_TEST(static_cast<bool>(reply(rig.context.read_tensor(t.value()))));
  BOOST_TEST(!rig.context.lost().ready());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(callbacks)

// -- slow ones ------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(blocked_callbacks_hold_up_callbacks_only) {
  Counter done;
  RuntimeOptions options;
  options.scheduler_threads = 1;
  Rig rig({}, options);
  Gate gate;
  std::vector<Context> others;
  for (int i = 0; i < 4; ++i) {
    auto context = rig.runtime.create_context().get();
    const auto t = context.create_tensor(Rig::floats()).get();
    context.read_tensor(t).then([latch = gate.latch(), done](const Result<Buffer>&) mutable {
      latch->wait();
      done.count();
    });
    others.push_back(std::move(context));
  }
  // The library goes on: writes, kernels, reads, creations, builds.
  const auto t = rig.tensor(), out = rig.tensor();
  const auto g = rig.twice();
  rig.write(t, 2);
  rig.dispatch(g, t, out);
  const auto read = reply(rig.context.read_tensor(out));
  BOOST_REQUIRE(read);
  BOOST_TEST(read.value().to_vector<float>()[0] == 4.0F);
  for (auto& other : others) BOOST_TEST(static_cast<bool>(reply(other.pending())));
  gate.open();
  BOOST_TEST(done.reaches(4));
}

BOOST_AUTO_TEST_CASE(a_callback_is_never_run_by_the_call_that_sets_it) {
  Rig rig;
  Counter done;
  const auto here = std::this_thread::get_id();
  const auto elsewhere = std::make_shared<std::atomic<int>>(0);
  for (int i = 0; i < 50; ++i) {
    auto settled = rig.context.create_tensor(Rig::floats());
    settled.wait();
    settled.then([=](const Result<Tensor>&) mutable {
      if (std::this_thread::get_id() != here) ++*elsewhere;
      done.count();
    });
  }
  BOOST_TEST(done.reaches(50));
  BOOST_TEST(*elsewhere == 50);
}

// -- waiting --------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(waiting_in_a_callback_is_always_safe) {
  for (const int threads : {1, 2}) {
    RuntimeOptions options;
    options.scheduler_threads = threads;
    Rig rig({}, options);
    Counter done;
    const auto t = rig.tensor();
    rig.write(t, 7);
    const auto wrong = std::make_shared<std::atomic<int>>(0);
    constexpr int rounds = 200;
    for (int i = 0; i < rounds; ++i)
      rig.context.read_tensor(t).then([=, context = rig.context](const Result<Buffer>&) mutable {
        try {
          if (context.read_tensor(t).get().to_vector<float>()[0] != 7.0F) ++*wrong;
          static_cast<void>(context.create_tensor(Rig::floats()).get());
        } catch (const Error&) {
          ++*wrong;
        }
        done.count();
      });
    BOOST_TEST(done.reaches(rounds));
    BOOST_TEST(*wrong == 0);
  }
}

BOOST_AUTO_TEST_CASE(a_callback_may_wait_for_a_place) {
  ContextOptions options;
  options.max_in_flight = 2;
  Rig rig(options);
  Counter done;
  const auto t = rig.tensor(), out = rig.tensor();
  const auto g = rig.twice();
  Gate gate;
  rig.faults->fail(FaultPoint::execute, 1, {.until = gate.latch()});
  rig.context.create_tensor(Rig::floats())
      .then([=, context = rig.context](const Result<Tensor>&) mutable {
        for (int i = 0; i < 20; ++i) context.dispatch(g, {{"in", t}}, {{"out", out}});
        done.count();
      });
  BOOST_TEST(comes([&] { return rig.context.stats().blocked >= 1; }));
  BOOST_TEST(rig.context.stats().in_flight == 2U);
  gate.open();
  BOOST_TEST(done.reaches(1));
  BOOST_TEST(rig.context.stats().peak_in_flight <= 2U);
}

BOOST_AUTO_TEST_CASE(on_revoked_may_wait) {
  RuntimeOptions options;
  options.scheduler_threads = 1;
  Rig rig({}, options);
  Counter done;
  auto t = rig.tensor();
  const auto u = rig.tensor();
  auto lease = rig.context.export_tensor(t).get();
  lease.on_revoked([=, context = rig.context]() mutable {
    if (context.read_tensor(u).take()) done.count();
  });
  t.destroy();
  BOOST_TEST(done.reaches(1));
  lives(rig);
}

BOOST_AUTO_TEST_CASE(a_late_on_revoked_does_not_run_in_the_call) {
  Rig rig;
  Counter done;
  auto t = rig.tensor();
  auto lease = rig.context.export_tensor(t).get();
  t.destroy();
  BOOST_REQUIRE(comes([&] { return lease.revoked(); }));
  const auto here = std::this_thread::get_id();
  const auto inside = std::make_shared<std::atomic<bool>>(false);
  lease.on_revoked([=]() mutable {
    *inside = std::this_thread::get_id() == here;
    done.count();
  });
  BOOST_TEST(done.reaches(1));
  BOOST_TEST(!*inside);
}

BOOST_AUTO_TEST_CASE(the_handler_for_errors_may_wait) {
  RuntimeOptions options;
  options.scheduler_threads = 1;
  Rig rig({}, options);
  Counter done;
  const auto t = rig.tensor();
  rig.context.on_uncaptured_error([=, context = rig.context](const Error&) mutable {
    if (context.read_tensor(t).take()) done.count();
  });
  throws(ErrorKind::type_error, [&] { rig.context.write_tensor(t, std::vector<float>(1)); });
  BOOST_TEST(done.reaches(1));
  rig.context.on_uncaptured_error({});
  lives(rig);
}

BOOST_AUTO_TEST_CASE(a_coroutine_may_wait_once_resumed) {
  RuntimeOptions options;
  options.scheduler_threads = 1;
  Rig rig({}, options);
  Counter done;
  const auto t = rig.tensor();
  const auto work = [](Context context, Tensor tensor, Counter finished) -> Detached {
    for (int i = 0; i < 50; ++i) {
      static_cast<void>(co_await context.read_tensor(tensor));
      static_cast<void>(context.read_tensor(tensor).get());
    }
    finished.count();
  };
  work(rig.context, t, done);
  BOOST_TEST(done.reaches(1));
}

// -- throwing -------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(a_throwing_continuation_leaves_the_context_alone) {
  Rig rig;
  Counter ran;
  const auto t = rig.tensor(), u = rig.tensor();
  auto lease = rig.context.export_tensor(u).get();
  auto others = rig.context.read_tensor(u);
  rig.context.read_tensor(t).then([ran](const Result<Buffer>&) mutable {
    ran.count();
    throw std::runtime_error("a user's mistake");
  });
  BOOST_TEST(ran.reaches(1));
  lives(rig);
  lease.return_now();
  BOOST_TEST(static_cast<bool>(reply(std::move(others))));
}

BOOST_AUTO_TEST_CASE(every_kind_of_callback_may_throw) {
  Rig rig;
  Counter ran;
  auto t = rig.tensor();
  const auto fail = [ran](const auto&...) mutable {
    ran.count();
    throw std::runtime_error("a user's mistake");
  };
  auto lease = rig.context.export_tensor(t).get();
  lease.on_revoked(fail);
  t.destroy();
  rig.context.create_tensor(Rig::floats()).then(fail);
  rig.build().then(fail);
  rig.context.pending().then(fail);
  rig.context.push_error_scope(ErrorFilter::internal);
  rig.context.pop_error_scope().then(fail);
  rig.runtime.create_context().then(fail);
  rig.context.on_uncaptured_error(fail);
  throws(ErrorKind::invalid_state, [&] { rig.write(t, 1); });
  BOOST_TEST(ran.reaches(7));
  lives(rig);
  rig.context.lost().then(fail);
  rig.context.destroy();
  BOOST_TEST(ran.reaches(8));
  BOOST_TEST(rig.runtime.shutdown().empty());
}

BOOST_AUTO_TEST_CASE(what_is_thrown_need_not_be_an_exception) {
  Rig rig;
  Counter ran;
  const auto t = rig.tensor();
  rig.context.read_tensor(t).then([ran](const Result<Buffer>&) mutable {
    ran.count();
    throw 42;
  });
  BOOST_TEST(ran.reaches(1));
  lives(rig);
}

BOOST_AUTO_TEST_CASE(a_callback_may_throw_at_the_end) {
  Counter ran;
  {
    Rig rig;
    const auto t = rig.tensor();
    const auto lease = rig.context.export_tensor(t).get();
    for (int i = 0; i < 10; ++i)
      rig.context.read_tensor(t).then([ran](const Result<Buffer>& read) mutable {
        ran.count();
        if (!read) throw std::runtime_error("a user's mistake");
      });
    rig.context.destroy();
    BOOST_TEST(rig.runtime.shutdown().empty());
  }
  BOOST_TEST(ran.reaches(10));
}

BOOST_AUTO_TEST_CASE(a_throwing_handler_for_errors_is_called_again) {
  Rig rig;
  Counter ran;
  const auto t = rig.tensor();
  auto lease = rig.context.export_tensor(t).get();
  auto read = rig.context.read_tensor(t);
  rig.context.on_uncaptured_error([ran](const Error&) mutable {
    ran.count();
    throw std::runtime_error("a user's mistake");
  });
  for (int i = 1; i <= 3; ++i) {
    throws(ErrorKind::type_error, [&] { rig.context.write_tensor(t, std::vector<float>(1)); });
    BOOST_TEST(ran.reaches(i));
  }
  lives(rig);
  lease.return_now();
  BOOST_TEST(static_cast<bool>(reply(std::move(read))));
}

BOOST_AUTO_TEST_CASE(callbacks_run_once_each_whatever_they_do) {
  Rig rig;
  Counter ran;
  const auto t = rig.tensor();
  constexpr int calls = 300;
  for (int i = 0; i < calls; ++i)
    rig.context.read_tensor(t).then([=, context = rig.context](const Result<Buffer>&) mutable {
      ran.count();
      if (i % 3 == 0) throw std::runtime_error("a user's mistake");
      if (i % 3 == 1) static_cast<void>(context.read_tensor(t).take());
      if (i == calls / 2) context.destroy();
    });
  BOOST_TEST(ran.reaches(calls));
  BOOST_TEST(rig.runtime.shutdown().empty());
  BOOST_TEST(*ran.number == calls);
}

BOOST_AUTO_TEST_CASE(what_a_handler_captured_goes_where_callbacks_run) {
  // Its end waits for the context, which must not be what waits for it.
  struct Session {
    Context context;
    Tensor tensor;
    std::atomic<int>& ended;
    ~Session() {
      static_cast<void>(context.read_tensor(tensor).take());
      ++ended;
    }
  };
  std::atomic<int> ended{0};
  auto rig = std::make_unique<Rig>();
  const auto handler = [&] {
    const std::shared_ptr<Session> session(new Session{rig->context, rig->tensor(), ended});
    return [session](const Error&) {};
  };
  rig->context.on_uncaptured_error(handler());
  rig->context.on_uncaptured_error(handler());  // the first goes
  const bool replaced = comes([&] { return ended == 1; });
  BOOST_TEST(replaced, "the handler that was replaced");
  rig->context.destroy();  // the second goes
  const bool lost = replaced && comes([&] { return ended == 2; });
  BOOST_TEST(lost, "the handler of a context that is gone");
  if (!lost) static_cast<void>(rig.release());  // its end would not end
}

BOOST_AUTO_TEST_CASE(what_on_revoked_captured_goes_where_callbacks_run) {
  struct Captured {
    std::atomic<int>& elsewhere;
    std::thread::id here;
    ~Captured() { elsewhere += std::this_thread::get_id() == here ? 0 : 1; }
  };
  std::atomic<int> elsewhere{0};
  Rig rig;
  auto lease = rig.context.export_tensor(rig.tensor()).get();
  const auto listen = [&] {
    const std::shared_ptr<Captured> captured(new Captured{elsewhere, std::this_thread::get_id()});
    lease.on_revoked([captured] {});
  };
  listen();
  listen();  // the first goes
  BOOST_TEST(comes([&] { return elsewhere == 1; }), "the callback that was replaced");
  lease.return_now();  // the second goes
  BOOST_TEST(comes([&] { return elsewhere == 2; }), "the callback of a lease that was returned");
}

// -- many ----------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(replies_that_wait_for_callbacks_are_as_many_as_operations_in_flight) {
  constexpr std::uint64_t most = 4;
  for (const auto policy : {AdmissionPolicy::fail, AdmissionPolicy::block}) {
    Rig rig({.max_in_flight = most, .admission = policy});
    const auto t = rig.tensor();
    Gate gate;
    Counter done;
    const auto read = [&](const std::shared_ptr<std::latch>& until) {
      rig.context.read_tensor(t).then([=](const Result<Buffer>&) mutable {
        done.count();
        if (until) until->wait();
      });
      BOOST_REQUIRE(comes([&] { return rig.context.stats().in_flight == 0; }));
    };
    read(gate.latch());
    BOOST_REQUIRE(done.reaches(1));
    for (std::uint64_t i = 0; i < most; ++i) read(nullptr);
    WriteOptions late;
    late.deadline = std::chrono::steady_clock::now();
    const std::vector<float> values(4);
    // A lane gives its place back just before it hands a callback over.
    std::optional<Error> refused;
    BOOST_REQUIRE(comes([&] {
      try {
        rig.context.write_tensor(t, values, late);
      } catch (const Error& error) {
        refused = error;
      }
      return refused.has_value();
    }));
    const bool fails = policy == AdmissionPolicy::fail;
    BOOST_TEST((refused->kind() == (fails ? ErrorKind::quota_exceeded : ErrorKind::timed_out)),
               refused->what());
    gate.open();
    BOOST_TEST(done.reaches(1 + most));
    rig.write(t, 2);
    BOOST_TEST(rig.read(t) == 2.0F);
  }
}

BOOST_AUTO_TEST_SUITE_END()
