// The queue and the slots of the engine on real threads, with CAF's jobs. tests/engine searches all
// schedules of the same code at small sizes.
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <caf/all.hpp>
#include <memory>
#include <thread>
#include <vector>

#include "actors/engine/own_thread.hpp"
#include "actors/engine/thread_pool.hpp"
#include "tests/patience.hpp"

using namespace polychron;
using testing::comes;

namespace {

/// Counts how often it runs.
struct Job final : caf::resumable {
  std::atomic<int> runs{0}, released{0};
  /// It is pushed again, so often.
  std::atomic<int> again{0};

  resume_result resume(caf::execution_unit*, std::size_t) override {
    ++runs;
    return again.fetch_sub(1) > 0 ? resume_later : awaiting_message;
  }
  void intrusive_ptr_add_ref_impl() override {}
  void intrusive_ptr_release_impl() override { ++released; }
};

/// A CAF system whose workers are not the tested ones.
struct Jobs {
  caf::actor_system_config config;
  caf::actor_system system{config};
};

struct Working : Jobs {
  engine::ThreadPool pool;
  explicit Working(std::size_t threads = 2) : pool(threads) { pool.open(system, 1); }
  ~Working() { pool.close(); }
  engine::ThreadPool::Queue& queue() { return pool.queue(); }
  void defer(Job& job, engine::OwnThread* thread = nullptr) {
    queue().defer(&job, thread == nullptr ? nullptr : thread->slot().get(), this);
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(jobs)

BOOST_AUTO_TEST_CASE(a_deferred_job_runs_if_nobody_takes_it) {
  Working working;
  for (int i = 0; i < 50; ++i) {
    Job job;
    working.defer(job);
    BOOST_TEST_REQUIRE(comes([&] { return job.released == 1; }), "round " << i);
    BOOST_TEST(job.runs == 1);
  }
}

// Also while the only thread always has something else to do.
BOOST_AUTO_TEST_CASE(it_runs_beside_others_that_never_end) {
  Working working(1);
  Job other, deferred;
  other.again = 1 << 30;
  working.queue().push(&other);
  BOOST_TEST_REQUIRE(comes([&] { return other.runs > 0; }));
  working.defer(deferred);
  BOOST_TEST(comes([&] { return deferred.released == 1; }));
  other.again = 0;
  BOOST_TEST(comes([&] { return other.released == 1; }));
}

BOOST_AUTO_TEST_CASE(a_job_that_is_taken_does_not_run) {
  Working working;
  int taken = 0;
  for (std::size_t round = 0; round < 200; ++round) {
    std::vector<std::unique_ptr<Job>> jobs(20);
    std::vector<bool> mine(jobs.size());
    for (auto& job : jobs) working.defer(*(job = std::make_unique<Job>()));
    for (std::size_t i = round % 2; i < jobs.size(); i += 2)
      mine[i] = working.queue().try_take(jobs[i].get(), nullptr).job == jobs[i].get();
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      if (!mine[i]) BOOST_TEST_REQUIRE(comes([&] { return jobs[i]->released == 1; }));
      BOOST_TEST(jobs[i]->runs == (mine[i] ? 0 : 1));
      taken += mine[i] ? 1 : 0;
    }
  }
  BOOST_TEST(taken > 0);
}

BOOST_AUTO_TEST_CASE(at_the_end_all_of_it_runs) {
  for (int i = 0; i < 50; ++i) {
    Job deferred, ready, of_a_thread;
    {
      Working working;
      engine::OwnThread thread(working.system);
      working.defer(deferred);
      working.defer(of_a_thread, &thread);
      working.queue().push(&ready);
      working.pool.close();
      BOOST_TEST(comes([&] { return of_a_thread.released == 1; }));
    }
    BOOST_TEST(deferred.released == 1);
    BOOST_TEST(ready.released == 1);
  }
}

// More than the queue begins with, too.
BOOST_AUTO_TEST_CASE(a_lanes_deferred_job_runs_on_its_thread_if_nobody_takes_it) {
  Working working;
  std::vector<std::unique_ptr<engine::OwnThread>> threads(20);
  for (auto& thread : threads) thread = std::make_unique<engine::OwnThread>(working.system);
  for (int round = 0; round < 50; ++round) {
    std::vector<std::unique_ptr<Job>> jobs;
    for (auto& thread : threads)
      working.defer(*jobs.emplace_back(std::make_unique<Job>()), thread.get());
    for (const auto& job : jobs) {
      BOOST_TEST_REQUIRE(comes([&] { return job->released == 1; }), "round " << round);
      BOOST_TEST(job->runs == 1);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_lanes_job_is_taken_by_callers_of_its_context_after_all_others) {
  Working working;
  engine::OwnThread thread(working.system);
  int taken = 0;
  const auto some_are = [&] {
    Job of_a_lane, member;
    working.defer(of_a_lane, &thread);
    working.defer(member);
    BOOST_TEST(!working.queue().try_take(nullptr, &taken));  // of another context
    const auto first = working.queue().try_take(nullptr, &working);
    const auto second = working.queue().try_take(nullptr, &working);
    if (second) {
      BOOST_TEST(first.job == &member);
      BOOST_TEST(second.job == &of_a_lane);
      BOOST_TEST(second.slot == thread.slot().get());
      ++taken;
    }
    for (auto* const job : {&of_a_lane, &member}) {
      const bool mine = first.job == job || second.job == job;
      if (!mine) BOOST_TEST_REQUIRE(comes([&] { return job->released == 1; }));
      BOOST_TEST(job->runs == (mine ? 0 : 1));
    }
    return taken == 100;
  };
  BOOST_TEST(comes(some_are));
}

// A thousand and more wait: the queue has grown, and nothing of it is lost.
BOOST_AUTO_TEST_CASE(a_long_queue_loses_nothing) {
  Working working(1);
  std::vector<std::unique_ptr<Job>> jobs(5000);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    jobs[i] = std::make_unique<Job>();
    if (i % 3 == 0)
      working.defer(*jobs[i]);
    else
      working.queue().push(jobs[i].get());
  }
  working.queue().expedite(&working);
  for (const auto& job : jobs)
    BOOST_TEST_REQUIRE(comes([&] { return job->released == 1 && job->runs == 1; }));
}

// One thread takes what another defers, while workers come by.
BOOST_AUTO_TEST_CASE(nothing_is_forgotten_between_callers_and_workers) {
  Working working;
  std::atomic<bool> over{false};
  std::jthread caller([&] {
    while (!over) {
      const auto entry = working.queue().try_take(nullptr, &working);
      if (!entry) continue;
      entry.job->resume(nullptr, 1);
      caf::intrusive_ptr_release(entry.job);
    }
  });
  for (int i = 0; i < 20000; ++i) {
    Job job;
    working.defer(job);
    const auto done = [&] { return job.released == 1; };
    for (int turn = 0; turn < 1000 && !done(); ++turn) std::this_thread::yield();
    if (!comes(done)) {
      over = true;
      BOOST_FAIL("job " << i << " was forgotten");
    }
    BOOST_TEST(job.runs == 1);
  }
  over = true;
}

BOOST_AUTO_TEST_SUITE_END()
