// The threads of a lane, which share the parts of a step.
#include "kernels/team.hpp"

#include <atomic>
#include <barrier>
#include <boost/test/unit_test.hpp>
#include <cfenv>
#include <chrono>
#include <set>
#include <thread>
#include <vector>

#include "polychron/error.hpp"

namespace polychron {
namespace {

/// A step whose parts are a function of their number.
template <class F>
class Parts final : public kernels::Bound {
 public:
  explicit Parts(F part) : part_(std::move(part)) {}
  void run() override {}
  void run_part(std::size_t part) override { part_(part); }

 private:
  F part_;
};

/// Long enough for the threads of a team to fall asleep, mostly. On a busy machine each time of
/// giving way takes milliseconds, and the threads have fallen asleep after the first.
void idle() {
  const auto awake = std::chrono::steady_clock::now() + std::chrono::microseconds(500);
  while (std::chrono::steady_clock::now() < awake) std::this_thread::yield();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(teams)

BOOST_AUTO_TEST_CASE(each_part_runs_once_before_run_returns) {
  for (const int threads : {1, 2, 3, 4}) {
    kernels::Team team(threads);
    BOOST_TEST(team.size() == static_cast<std::size_t>(threads));
    std::size_t wrong = 0;
    for (std::size_t round = 0; round < 20'000; ++round) {
      const std::size_t count = round % 9;
      std::vector<int> runs(count);  // written by different threads, read by this one
      Parts step([&](std::size_t part) { ++runs[part]; });
      team.run(step, count);
      for (const int times : runs) wrong += times != 1;
      if (round % 1000 == 0) idle();
    }
    BOOST_TEST(wrong == 0U, wrong << " parts of " << threads << " threads did not run once");
  }
}

// Two parts that wait for each other are on two threads, also if one was asleep.
BOOST_AUTO_TEST_CASE(parts_run_at_the_same_time) {
  kernels::Team team(2);
  for (int round = 0; round < 200; ++round) {
    std::barrier both(2);
    Parts step([&](std::size_t) { both.arrive_and_wait(); });
    team.run(step, 2);
    if (round % 10 == 0) idle();
  }
}

// Then in each step the same core has the same share of a picture.
BOOST_AUTO_TEST_CASE(each_thread_begins_with_its_own_share) {
  kernels::Team team(2);
  const auto caller = std::this_thread::get_id();
  for (std::size_t count = 2; count <= 8; count += 2) {
    std::atomic<std::size_t> wrong = 0;
    for (int round = 0; round < 200; ++round) {
      std::barrier both(2);
      Parts step([&](std::size_t part) {
        if (part % (count / 2) != 0) return;
        both.arrive_and_wait();  // both are here, each in the part that it took first
        wrong += (part == 0) != (std::this_thread::get_id() == caller);
      });
      team.run(step, count);
    }
    BOOST_TEST(wrong == 0U, wrong << " shares of " << count / 2 << " parts began elsewhere");
  }
}

BOOST_AUTO_TEST_CASE(what_a_part_throws_is_thrown_once_all_have_ended) {
  kernels::Team team(3);
  for (std::size_t round = 0; round < 2000; ++round) {
    std::atomic<int> runs = 0;
    Parts step([&](std::size_t part) {
      ++runs;
      if (part == round % 8) throw Error(ErrorKind::operation_error, "part");
      if (part == 7) throw Error(ErrorKind::operation_error, "last");
    });
    BOOST_CHECK_THROW(team.run(step, 8), Error);
    BOOST_TEST(runs == 8);
    runs = 0;
    Parts good([&](std::size_t) { ++runs; });
    team.run(good, 8);
    BOOST_TEST(runs == 8);
  }
}

BOOST_AUTO_TEST_CASE(threads_compute_as_the_standard_says_whoever_made_them) {
  std::fesetround(FE_UPWARD);
  kernels::Team team(2);
  std::fesetround(FE_TONEAREST);
  std::barrier both(2);
  std::atomic<int> otherwise = 0;
  Parts step([&](std::size_t) {
    both.arrive_and_wait();
    otherwise += std::fegetround() != FE_TONEAREST;
  });
  team.run(step, 2);
  BOOST_TEST(otherwise == 0);
}

BOOST_AUTO_TEST_CASE(any_thread_may_call_one_after_the_other) {
  kernels::Team team(2);
  for (int round = 0; round < 100; ++round) {
    std::atomic<int> runs = 0;
    std::thread([&] {
      Parts step([&](std::size_t) { ++runs; });
      team.run(step, 4);
    }).join();
    BOOST_TEST(runs == 4);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron
