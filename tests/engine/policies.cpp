// Policies of the engine whose only symptom is time: who is woken, how often a worker polls, which
// jobs a caller takes. On one scripted thread each of these is a number.
#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <memory>
#include <vector>

#include "actors/engine/caller.hpp"
#include "tests/engine/scripted.hpp"

using namespace testing::scripted;
using polychron::engine::poll_interval;
using polychron::msg::DurationClass;
using Queue = polychron::engine::JobQueue<Machine>;
using Slot = polychron::engine::JobSlot<Machine>;
using Caller = polychron::engine::Caller<Machine>;
using Job = Machine::Job;

namespace {

/// A queue, and the worker's life on this thread. The script closes the queue at the last wait.
struct Worker {
  explicit Worker(std::size_t capacity = 16) : queue(capacity) { Machine::state = State(); }
  /// `script[i]` is what others do in the worker's wait number i.
  void serve(const std::vector<std::function<void()>>& script) {
    Machine::state.meanwhile = [&](std::size_t wait) {
      if (wait < script.size()) return script[wait]();
      queue.close();
    };
    queue.serve([&](Job* job) {
      ran.push_back(job);
      return false;
    });
  }
  int wakes() const { return Machine::state.wakes; }
  const std::vector<bool>& waits() const { return Machine::state.waits; }

  Queue queue;
  std::vector<Job*> ran;
};

const int context = 0, other_context = 0;
const auto nothing = [] {};
constexpr bool sleeps = false, polls = true;

std::shared_ptr<Slot> slot_of(const void* of, DurationClass duration) {
  auto slot = std::make_shared<Slot>();
  slot->set_context(of);
  slot->set_next_duration([duration] { return duration; });
  return slot;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(policies)

// -- who is woken ---------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(a_ready_job_wakes_one_worker_if_one_waits) {
  Worker worker;
  Job early, late;
  worker.queue.push(&early);
  BOOST_TEST(worker.wakes() == 0);  // none waits
  worker.serve({[&] { worker.queue.push(&late); }});
  BOOST_TEST(worker.wakes() == 2);  // and the end
  BOOST_TEST(worker.ran == (std::vector<Job*>{&early, &late}));
}

BOOST_AUTO_TEST_CASE(several_deferred_jobs_call_one_poller) {
  Worker worker;
  std::array<Job, 3> jobs;
  Job another;
  int called = 0, while_it_polls = 0;
  worker.serve({[&] {
                  for (auto& job : jobs) worker.queue.defer(&job, nullptr, &context);
                  called = worker.wakes();
                },
                [&] {
                  worker.queue.defer(&another, nullptr, &context);
                  while_it_polls = worker.wakes() - called;
                }});
  BOOST_TEST(called == 1);
  BOOST_TEST(while_it_polls == 0);
  BOOST_TEST(worker.ran.size() == 4U);
}

BOOST_AUTO_TEST_CASE(the_poller_sleeps_after_two_intervals_without_a_deferred_job) {
  Worker worker;
  Job job;
  worker.serve({[&] { worker.queue.defer(&job, nullptr, &context); }, nothing, nothing, nothing});
  // Called, it polls until the job is due, once more after it has run, and then sleeps.
  BOOST_TEST(worker.ran.size() == 1U);
  BOOST_TEST(worker.waits() == (std::vector<bool>{sleeps, polls, polls, sleeps, sleeps}));
}

BOOST_AUTO_TEST_CASE(a_deferred_job_runs_when_it_is_due_and_not_before) {
  Worker worker;
  Job job;
  const auto deferred = Machine::now();
  worker.queue.defer(&job, nullptr, &context);
  std::size_t ran_before = 1;
  worker.serve({[&] {
    Machine::state.now = deferred + poll_interval - std::chrono::nanoseconds(1);
    ran_before = worker.ran.size();
  }});
  BOOST_TEST(ran_before == 0U);
  BOOST_TEST((Machine::now() - deferred == 2 * poll_interval));  // the second is the idle poll
  BOOST_TEST(worker.ran.size() == 1U);
}

BOOST_AUTO_TEST_CASE(expediting_wakes_a_worker_for_each_job_of_that_context) {
  Worker worker;
  std::array<Job, 3> mine;
  Job others;
  int wakes = 0;
  worker.serve({[&] {
    for (auto& job : mine) worker.queue.defer(&job, nullptr, &context);
    worker.queue.defer(&others, nullptr, &other_context);
    const int before = worker.wakes();
    worker.queue.expedite(&context);
    worker.queue.expedite(&context);  // they are ready already
    wakes = worker.wakes() - before;
  }});
  BOOST_TEST(wakes == 3);
  BOOST_TEST(worker.ran == (std::vector<Job*>{&mine[0], &mine[1], &mine[2], &others}));
}

// -- the queue ------------------------------------------------------------------------------------

// From every place of the ring at which its first entry may be.
BOOST_AUTO_TEST_CASE(a_queue_grows_in_order_wherever_it_begins) {
  for (std::size_t before = 0; before < 8; ++before) {
    Worker worker(4);
    std::vector<Job> jobs(40);
    std::vector<Job*> expected;
    for (std::size_t i = 0; i < before; ++i) {  // moves the beginning on
      worker.queue.push(&jobs[i]);
      BOOST_TEST(worker.queue.try_take(&jobs[i], nullptr).job == &jobs[i]);
    }
    for (auto& job : jobs) {
      worker.queue.push(&job);  // none waits: a queue that does not grow stops here
      expected.push_back(&job);
    }
    worker.queue.close();
    worker.serve({});
    BOOST_TEST(worker.ran == expected, "begun at " << before);
  }
}

BOOST_AUTO_TEST_CASE(a_caller_searches_just_so_far) {
  constexpr auto depth = polychron::engine::search_depth;
  for (const std::size_t ahead : {depth - 1, depth}) {
    Worker worker(256);
    std::vector<Job> others(ahead);
    Job mine;
    for (auto& other : others) worker.queue.push(&other);
    worker.queue.push(&mine);
    BOOST_TEST((worker.queue.try_take(&mine, &context).job == &mine) == (ahead < depth));
  }
}

BOOST_AUTO_TEST_CASE(what_a_caller_takes_is_no_longer_counted_as_deferred) {
  Worker worker;
  Job job;
  worker.queue.defer(&job, nullptr, &context);
  BOOST_TEST(worker.queue.try_take(nullptr, &context).job == &job);
  BOOST_TEST(!worker.queue.try_take(nullptr, &context));
  worker.serve({nothing, nothing, nothing});
  BOOST_TEST(worker.ran.empty());
  BOOST_TEST(worker.waits() == (std::vector<bool>{polls, polls, sleeps, sleeps}));
}

// -- what a caller keeps --------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(a_caller_keeps_one_lanes_job_and_of_others_tiny_ones) {
  for (const auto second : {DurationClass::tiny, DurationClass::short_, DurationClass::unknown})
    for (const auto first : {DurationClass::tiny, DurationClass::short_, DurationClass::unknown}) {
      Worker worker;
      Job context_job, a, b, c;
      Caller caller(worker.queue, &context, &context_job);
      const auto one = slot_of(&context, first), two = slot_of(&context, second);
      const auto foreign = slot_of(&other_context, DurationClass::tiny);
      BOOST_TEST(!caller.made_runnable(*foreign, &c));
      BOOST_TEST(caller.made_runnable(*one, &a));
      BOOST_TEST(caller.made_runnable(*two, &b) == (second == DurationClass::tiny));
    }
}

BOOST_AUTO_TEST_CASE(a_caller_that_has_run_a_lane_keeps_the_next_one) {
  Worker worker;
  Job context_job, a, b;
  Caller caller(worker.queue, &context, &context_job);
  const auto one = slot_of(&context, DurationClass::short_);
  const auto two = slot_of(&context, DurationClass::short_);
  std::vector<Job*> ran;
  bool kept = false;
  BOOST_TEST(caller.made_runnable(*one, &a));
  caller.work_until([&] { return ran.size() == 2; }, true,
                    [&](Job* job, bool one_message) {
                      BOOST_TEST(one_message);
                      ran.push_back(job);
                      if (job == &a) kept = caller.made_runnable(*two, &b);
                      return false;
                    });
  BOOST_TEST(kept);
  BOOST_TEST(ran == (std::vector<Job*>{&a, &b}));
}

BOOST_AUTO_TEST_CASE(a_caller_blocks_after_so_many_jobs) {
  Worker worker;
  Job context_job;
  Caller caller(worker.queue, &context, &context_job);
  int ran = 0;
  worker.queue.push(&context_job);
  caller.work_until([] { return false; }, true,
                    [&](Job*, bool one_message) {
                      BOOST_TEST(!one_message);
                      ++ran;
                      return true;  // it has more mail
                    });
  BOOST_TEST(ran == polychron::engine::most_jobs);
}

BOOST_AUTO_TEST_CASE(what_a_caller_leaves_is_ready_unless_it_returns) {
  for (const bool returns : {false, true}) {
    Worker worker;
    Job context_job, left;
    Caller caller(worker.queue, &context, &context_job);
    caller.made_runnable(&left);
    caller.work_until([] { return true; }, returns, [](Job*, bool) { return false; });
    std::size_t ran_at_once = 0;
    worker.serve({[&] { ran_at_once = worker.ran.size(); }});
    BOOST_TEST(ran_at_once == (returns ? 0U : 1U));
    BOOST_TEST(worker.ran.size() == 1U);
  }
}

BOOST_AUTO_TEST_SUITE_END()
