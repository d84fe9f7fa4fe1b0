// Threads that create, write, dispatch, compute, read, rent, destroy and lose contexts at random,
// on real kernels with faults injected. All the time, every reply is what the calls before it made,
// or an error with a cause. Now and then, and at the end, statistics agree with the objects. At the
// end every reply was settled exactly once, and bytes, threads and actors are back at the start.
// Runs POLYCHRON_SOAK_SECONDS (default 5) with POLYCHRON_SEED (default 1); prints its counts. A
// recording by POLYCHRON_TRACE has the bytes as well if POLYCHRON_SOAK_PAYLOADS is set
// (scripts/replays.sh makes these recordings, and runs them again).
#include <boost/test/unit_test.hpp>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <thread>

#include "tests/rig.hpp"
#include "tests/soak/worker.hpp"

using namespace polychron;
using stress::FaultPoint;

namespace {

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::stoull(text);
}

std::size_t threads_of_process() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/task"))
    ++count;
  return count;
}

/// The duration of the work: "5", "0.2".
std::chrono::milliseconds time_from_environment() {
  const char* text = std::getenv("POLYCHRON_SOAK_SECONDS");
  const std::chrono::duration<double> seconds(text == nullptr ? 5 : std::stod(text));
  return std::chrono::duration_cast<std::chrono::milliseconds>(seconds);
}

/// Far longer than anything takes: what is not done by then is blocked for ever.
constexpr std::chrono::seconds patience(120);

/// Nothing can be unwound: prints the blocked threads, and ends the process.
[[noreturn]] void blocked_for_ever(const soak::Tally& tally, const std::vector<std::string>& who) {
  for (const auto& complaint : tally.complaints()) std::cerr << complaint << '\n';
  for (const auto& one : who) std::cerr << "seed " << tally.seed << ": blocked: " << one << '\n';
  std::_Exit(3);
}

/// Lets `count` workers work for a while.
void work(soak::World& world, std::uint64_t seed, std::size_t count,
          std::chrono::milliseconds time) {
  const auto until = std::chrono::steady_clock::now() + time;
  std::mutex mutex;
  std::condition_variable ended;
  std::size_t working = count;
  std::deque<soak::Worker> workers;
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < count; ++i) {
    auto& worker = workers.emplace_back(world, seed * 100 + i);
    threads.emplace_back([&] {
      worker.run(until);
      const std::lock_guard lock(mutex);
      --working;
      ended.notify_all();
    });
  }
  std::unique_lock lock(mutex);
  if (ended.wait_until(lock, until + patience, [&] { return working == 0; })) return;
  std::vector<std::string> who;
  for (const auto& worker : workers) who.emplace_back(worker.doing());
  blocked_for_ever(world.tally, who);
}

void inject(stress::FaultPlan& faults, std::uint64_t seed) {
  faults.fail_randomly(FaultPoint::execute, seed + 1, 101, {});
  faults.fail_randomly(FaultPoint::adopt, seed + 2, 97, {});
  faults.fail_randomly(FaultPoint::allocate, seed + 3, 53, {});
  faults.fail_randomly(FaultPoint::read, seed + 4, 89, {.throws = true});
  faults.fail_randomly(FaultPoint::compile, seed + 5, 29, {});
  faults.fail_randomly(FaultPoint::instantiate, seed + 6, 31, {});
}

std::string counts(const soak::Tally& t) {
  std::ostringstream text;
  text << "seed " << t.seed << ": " << t.asked << " replies asked, " << t.resolved << " resolved, "
       << t.rejected << " rejected; " << t.contexts << " contexts, " << t.lost
       << " destroyed or lost; " << t.tensors << " tensors, " << t.writes << " writes, "
       << t.dispatches << " dispatches, " << t.computes << " computes, " << t.leases << " leases, "
       << t.builds << " builds, " << t.chains << " chains, " << t.scopes << " scopes; "
       << t.uncaptured << " errors uncaptured, " << t.thrown << " calls threw; at rest " << t.rests
       << " times";
  return text.str();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(soak)

BOOST_AUTO_TEST_CASE(everything_at_random_for_a_while) {
  const auto time = time_from_environment();
  const auto seed = from_environment("POLYCHRON_SEED", 1);
  std::thread([] {}).join();  // the thread sanitizer starts one of its own with the first
  const auto threads_before = threads_of_process();
  polychron::soak::Tally tally(seed);
  const auto faults = std::make_shared<stress::FaultPlan>();
  inject(*faults, seed);
  auto state = testing::faulty_runtime(faults);
  {
    Runtime runtime(state);
    if (std::getenv("POLYCHRON_SOAK_PAYLOADS") != nullptr)
      runtime.start_trace({.calls = TraceCalls::payloads});
    polychron::soak::World world(runtime, *faults, tally);
    work(world, seed, 3, time);
    world.commons.reset();
    std::vector<std::string> who;
    for (const auto& remaining : runtime.shutdown(patience))
      who.push_back(remaining.actor + ": " + remaining.holds);
    if (!who.empty()) blocked_for_ever(tally, who);
    // The last replies may not have reached their callbacks yet.
    polychron::soak::comes_true([&] { return tally.asked == tally.resolved + tally.rejected; });
    for (const auto& site : world.graveyard) site->check_end(tally);
  }
  BOOST_TEST_MESSAGE(counts(tally) << "; " << faults->injected() << " faults");
  BOOST_TEST(tally.asked == tally.resolved + tally.rejected);
  BOOST_TEST(tally.twice == 0U);
  BOOST_TEST(tally.wrong == 0U);
  for (const auto& complaint : tally.complaints()) BOOST_ERROR(complaint);
  BOOST_TEST(tally.contexts > 0U);
  BOOST_TEST(state->registry().present().empty());
  // It goes with what an actor held, which is a moment after the actor has left the registry.
  BOOST_TEST(polychron::soak::comes_true([&] { return state->contexts_holding_memory() == 0U; }));
  // The scheduler's threads end with the last handle to the runtime. A joined thread is still
  // listed until the kernel has removed it.
  state.reset();
  BOOST_TEST(polychron::soak::comes_true([&] { return threads_of_process() <= threads_before; }));
}

BOOST_AUTO_TEST_SUITE_END()
