// Which jobs a calling thread leaves to itself: the engine's CallerRuns on a pool without workers.
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <caf/all.hpp>
#include <memory>
#include <thread>

#include "actors/engine/caller_runs.hpp"
#include "messages/shared/library_thread.hpp"
#include "tests/patience.hpp"

using namespace polychron;
using testing::comes;

namespace {

struct Counted final : caf::resumable {
  resume_result resume(caf::execution_unit*, std::size_t) override {
    ++runs;
    return awaiting_message;
  }
  void intrusive_ptr_add_ref_impl() override {}
  void intrusive_ptr_release_impl() override {}
  int runs = 0;
};

/// Its queue has no workers, so that what is deferred stays where a caller finds it.
struct Unattended {
  Unattended() { pool->open(system, 64); }
  caf::actor_system_config config;
  caf::actor_system system{config};
  const std::shared_ptr<engine::ThreadPool> pool = std::make_shared<engine::ThreadPool>(0);
};

/// The callers of a context.
struct Callers : Unattended {
  /// A call that makes the job runnable. True if it was deferred, for this thread to run.
  bool defers() {
    Counted job;
    runs.calls()->exec_later(&job);
    if (pool->queue().try_take(nullptr, &runs).job == &job) return true;
    BOOST_REQUIRE(pool->queue().try_take(&job, nullptr).job == &job);  // ready, for a worker
    return false;
  }
  void wait() {
    const std::atomic<bool> settled{true};
    runs.work_until(settled);
  }
  engine::CallerRuns runs{system, pool};
};

/// A thread that has not waited yet.
template <class F>
void on_a_new_thread(F f) {
  std::thread(f).join();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(callers)

BOOST_AUTO_TEST_CASE(the_context_is_left_to_a_thread_that_waited_after_its_last_call) {
  Callers callers, others;
  on_a_new_thread([&] {
    BOOST_TEST(!callers.defers());  // it may not wait at all
    callers.wait();
    BOOST_TEST(callers.defers());
    BOOST_TEST(!callers.defers());  // it called twice: once only it is believed
    callers.wait();
    callers.wait();
    BOOST_TEST(!others.defers());  // another context
    BOOST_TEST(callers.defers());
    callers.wait();
    others.wait();
    BOOST_TEST(!callers.defers());  // it waited for another context last
    BOOST_TEST(others.defers());
  });
  callers.wait();
  on_a_new_thread([&] { BOOST_TEST(!callers.defers()); });  // another thread waited
}

// What is left when the reply comes is ready, unless the thread was here a moment ago.
BOOST_AUTO_TEST_CASE(what_a_first_wait_leaves_is_not_left_to_the_thread) {
  Callers callers;
  const auto left_after_a_wait = [&] {
    Counted job;
    callers.pool->queue().defer(&job, nullptr, &callers.runs);
    callers.wait();
    const auto entry = callers.pool->queue().try_take(&job, nullptr);
    BOOST_REQUIRE(entry.job == &job);
    return entry.deferred();
  };
  on_a_new_thread([&] { BOOST_TEST(!left_after_a_wait()); });
  on_a_new_thread([&] {
    // A thread that waits at once again; the machine may take longer in one try.
    BOOST_TEST(comes([&] {
      callers.wait();
      return left_after_a_wait();
    }));
  });
}

BOOST_AUTO_TEST_CASE(a_thread_that_carries_actors_runs_none_and_leaves_none) {
  Callers callers;
  on_a_new_thread([&] {
    const msg::CarriesActors carries;
    callers.wait();
    BOOST_TEST(!callers.defers());
  });
}

BOOST_AUTO_TEST_SUITE_END()
