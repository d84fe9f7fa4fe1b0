// Jobs that wait for a thread: deferred ones, and jobs left to threads that look for work.
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <caf/all.hpp>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "messages/length.hpp"
#include "messages/shared/own_thread.hpp"
#include "messages/shared/workers.hpp"
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
  msg::Workforce force;
  explicit Working(std::size_t threads = 2) : force(threads) { force.open(system, 1); }
  ~Working() { force.close(); }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(jobs)

BOOST_AUTO_TEST_CASE(what_was_pushed_quietly_runs_if_nobody_takes_it) {
  Working working;
  for (int i = 0; i < 50; ++i) {
    Job job;
    working.force.push_quietly(&job);
    BOOST_TEST_REQUIRE(comes([&] { return job.released == 1; }), "round " << i);
    BOOST_TEST(job.runs == 1);
  }
}

// Also while the only thread always has something else to do.
BOOST_AUTO_TEST_CASE(it_runs_beside_others_that_never_end) {
  Working working(1);
  Job other, quiet;
  other.again = 1 << 30;
  working.force.push(&other);
  BOOST_TEST_REQUIRE(comes([&] { return other.runs > 0; }));
  working.force.push_quietly(&quiet);
  BOOST_TEST(comes([&] { return quiet.released == 1; }));
  other.again = 0;
  BOOST_TEST(comes([&] { return other.released == 1; }));
}

// The thread that takes the job has it alone. More others run than there are places.
BOOST_AUTO_TEST_CASE(what_is_taken_does_not_run) {
  Working working;
  int taken = 0;
  for (std::size_t round = 0; round < 200; ++round) {
    std::vector<std::unique_ptr<Job>> jobs(20);
    std::vector<bool> mine(jobs.size());
    for (auto& job : jobs) working.force.push_quietly((job = std::make_unique<Job>()).get());
    for (std::size_t i = round % 2; i < jobs.size(); i += 2)
      mine[i] = working.force.try_take(jobs[i].get()).job == jobs[i].get();
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
    Job quiet, loud, of_a_thread;
    {
      Working working;
      msg::OwnThread thread(working.system);
      working.force.push_quietly(&quiet);
      working.force.push_quietly(&of_a_thread, thread.post());
      working.force.push(&loud);
      working.force.close();
      BOOST_TEST(comes([&] { return of_a_thread.released == 1; }));
    }
    BOOST_TEST(quiet.released == 1);
    BOOST_TEST(loud.released == 1);
  }
}

// More than have a place, too.
BOOST_AUTO_TEST_CASE(what_has_a_post_runs_on_its_thread_if_nobody_takes_it) {
  Working working;
  std::vector<std::unique_ptr<msg::OwnThread>> threads(20);
  for (auto& thread : threads) thread = std::make_unique<msg::OwnThread>(working.system);
  for (int round = 0; round < 50; ++round) {
    std::vector<std::unique_ptr<Job>> jobs;
    for (auto& thread : threads) {
      jobs.push_back(std::make_unique<Job>());
      working.force.push_quietly(jobs.back().get(), thread->post());
    }
    for (const auto& job : jobs) {
      BOOST_TEST_REQUIRE(comes([&] { return job->released == 1; }), "round " << round);
      BOOST_TEST(job->runs == 1);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_has_a_post_is_taken_by_who_knows_the_post) {
  Working working;
  msg::OwnThread thread(working.system), other(working.system);
  const std::vector others{other.post()}, all{other.post(), thread.post()};
  int taken = 0;
  const auto some_are = [&] {
    Job job;
    working.force.push_quietly(&job, thread.post());
    BOOST_TEST((working.force.try_take(&job, others).job == nullptr));
    const auto found = working.force.try_take(nullptr, all);
    if (found) {
      BOOST_TEST((found.job == &job && found.post == thread.post().get()));
      ++taken;
    } else {
      BOOST_TEST_REQUIRE(comes([&] { return job.released == 1; }));
    }
    BOOST_TEST(job.runs == (found ? 0 : 1));
    return taken == 100;
  };
  BOOST_TEST(comes(some_are));
}

// However long all were taken back in time: and then one is not.
BOOST_AUTO_TEST_CASE(what_nobody_takes_runs_though_all_before_were_taken) {
  Working working;
  msg::OwnThread thread(working.system);
  const std::vector posts{thread.post()};
  for (int round = 0; round < 20; ++round) {
    const auto taken_for_a_while = [&] {
      for (int i = 0; i < 2000; ++i) {
        Job job;
        working.force.push_quietly(&job);
        if (working.force.try_take(&job).job != &job) {
          BOOST_TEST_REQUIRE(comes([&] { return job.released == 1; }));
          return false;
        }
      }
      return true;
    };
    BOOST_TEST(comes(taken_for_a_while));
    Job left, of_a_thread;
    if (round % 2 == 0) working.force.push_quietly(&left);
    working.force.push_quietly(&of_a_thread, thread.post());
    if (round % 2 == 1) working.force.push_quietly(&left);
    BOOST_TEST_REQUIRE(comes([&] { return left.released == 1 && of_a_thread.released == 1; }));
  }
}

// No one knows how soon a thread would wake. But if the job is still there after another thread has
// been woken a hundred times, then this thread was not woken. It may have been awake, though.
BOOST_AUTO_TEST_CASE(a_post_that_is_looked_into_wakes_nobody) {
  Jobs in;
  const auto lookers = std::make_shared<std::atomic<int>>(0);
  msg::OwnThread thread(in.system), other(in.system);
  thread.post()->set_lookers(lookers);
  const auto others_run = [&] {
    for (int i = 0; i < 100; ++i) {
      Job job;
      other.post()->put(&job);
      BOOST_TEST_REQUIRE(comes([&] { return job.released == 1; }));
    }
  };
  bool stayed = false;
  for (int attempt = 0; attempt < 5 && !stayed; ++attempt) {
    others_run();
    lookers->store(1);
    Job left;
    thread.post()->put(&left);
    others_run();
    stayed = thread.post()->try_take() == &left;
    // A job that was not taken is run.
    Job last;
    if (stayed) thread.post()->put(&last);
    lookers->store(0);
    thread.post()->see_to_rest();
    BOOST_TEST_REQUIRE(comes([&] { return (stayed ? last : left).released == 1; }));
  }
  BOOST_TEST(stayed);
}

// A thread that waits for another's job carries it out itself, if it is short.
BOOST_AUTO_TEST_CASE(a_thread_gives_way_to_who_looks) {
  Jobs in;
  const auto lookers = std::make_shared<std::atomic<int>>(0);
  std::atomic<msg::Length> next{msg::Length::brief};
  msg::OwnThread thread(in.system), other(in.system);
  const auto post = thread.post();
  post->set_lookers(lookers);
  post->set_next_length([&] { return next.load(); });
  for (int round = 0; round < 50; ++round) {
    Job job;
    job.again = 1 << 30;
    post->put(&job);
    const auto goes_on = [&] {
      return comes([&, before = job.runs.load()] { return job.runs > before + 100; });
    };
    BOOST_TEST_REQUIRE(goes_on());
    next = msg::Length::brief;
    lookers->store(1);
    BOOST_TEST_REQUIRE(goes_on());
    BOOST_TEST((post->try_take() == nullptr));
    next = msg::Length::little;
    // It stays there, however often another thread has run meanwhile.
    BOOST_TEST_REQUIRE(comes([&, before = job.runs.load()]() mutable {
      Job meanwhile;
      other.post()->put(&meanwhile);
      BOOST_TEST_REQUIRE(comes([&] { return meanwhile.released == 1; }));
      return std::exchange(before, job.runs.load()) == job.runs;
    }));
    caf::resumable* found = nullptr;
    BOOST_TEST_REQUIRE(comes([&] { return (found = post->try_take()) != nullptr; }));
    BOOST_TEST((found == &job));
    // The thread leaves the job that came back, and takes it when no other thread looks any more.
    post->put(&job);
    lookers->store(0);
    post->see_to_rest();
    BOOST_TEST_REQUIRE(goes_on());
    job.again = 0;
    BOOST_TEST_REQUIRE(comes([&] { return job.released == 1; }));
  }
}

// One thread stops looking while another puts a job. Either the job wakes the thread, or it is
// taken.
BOOST_AUTO_TEST_CASE(nothing_is_forgotten_as_a_looker_leaves) {
  Jobs in;
  const auto lookers = std::make_shared<std::atomic<int>>(0);
  msg::OwnThread thread(in.system);
  const auto post = thread.post();
  post->set_lookers(lookers);
  std::atomic<bool> over{false};
  std::atomic<int> taken{0};
  std::jthread looker([&] {
    while (!over) {
      lookers->fetch_add(1);
      auto* const found = post->try_take();
      lookers->fetch_sub(1);
      post->see_to_rest();
      if (found == nullptr) continue;
      ++taken;
      found->resume(nullptr, 1);
      caf::intrusive_ptr_release(found);
    }
  });
  for (int i = 0; i < 20000; ++i) {
    Job job;
    post->put(&job);
    const auto done = [&] { return job.released == 1; };
    for (int turn = 0; turn < 1000 && !done(); ++turn) std::this_thread::yield();
    if (!comes(done)) {
      over = true;
      BOOST_FAIL("job " << i << " was forgotten, after " << taken << " that were taken");
    }
  }
  over = true;
}

BOOST_AUTO_TEST_SUITE_END()
