// The engine's core under every schedule of small programs. No job is lost or run twice, no thread
// waits where nobody will ever come, deferred jobs run within an interval, and the threads end. The
// same search has to find each of the defects that defects.cmake plants in a copy of the core.
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdint>
#include <string>

#include "actors/engine/caller.hpp"
#include "kernels/team_core.hpp"
#include "planted_engine/caller.hpp"
#include "planted_engine/names.hpp"
#include "planted_engine/team_core.hpp"
#include "tests/engine/scenarios.hpp"
#include "tests/engine/team_scenarios.hpp"

using namespace testing::exploring;

namespace {

struct RealEngine {
  template <class P>
  using Queue = polychron::engine::JobQueue<P>;
  template <class P>
  using Slot = polychron::engine::JobSlot<P>;
  template <class P>
  using Caller = polychron::engine::Caller<P>;
  template <class P>
  using Steps = polychron::kernels::SharedSteps<P>;
  static constexpr auto interval = polychron::engine::poll_interval;
};

struct PlantedEngine {
  template <class P>
  using Queue = polychron::planted_engine::JobQueue<P>;
  template <class P>
  using Slot = polychron::planted_engine::JobSlot<P>;
  template <class P>
  using Caller = polychron::planted_engine::Caller<P>;
  template <class P>
  using Steps = polychron::planted_engine::SharedSteps<P>;
  static constexpr auto interval = polychron::planted_engine::poll_interval;
};

/// Of the jobs, and of the threads that share steps.
template <class Engine>
std::vector<Scenario> all_scenarios() {
  auto scenarios = Scenarios<Engine>::all();
  for (auto& scenario : TeamScenarios<Engine>::all()) scenarios.push_back(std::move(scenario));
  return scenarios;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(searched)

BOOST_AUTO_TEST_CASE(every_schedule_of_small_programs_is_good) {
  for (const auto& scenario : all_scenarios<RealEngine>()) {
    const auto begun = std::chrono::steady_clock::now();
    const auto found = Explorer().search(scenario.bound, scenario.program);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
    BOOST_TEST_MESSAGE(scenario.name << ": " << found.runs << " schedules with at most "
                                     << scenario.bound << " preemptions, " << took.count() << " s");
    BOOST_TEST(found.failure.empty(), scenario.name << ": " << found.failure);
    BOOST_TEST(found.runs > 10);
  }
}

BOOST_AUTO_TEST_CASE(each_planted_defect_has_its_marker) {
  for (const auto* miss = planted_engine::misses; *miss != nullptr; ++miss) BOOST_ERROR(*miss);
}

// With few preemptions first, as most defects need none or one.
BOOST_AUTO_TEST_CASE(each_planted_defect_is_found) {
  for (int defect = 1; planted_engine::names[defect] != nullptr; ++defect) {
    planted_engine::defect = defect;
    std::string finder;
    std::uint64_t runs = 0;
    for (int bound = 0; finder.empty() && bound < 3; ++bound)
      for (const auto& scenario : all_scenarios<PlantedEngine>()) {
        if (bound > scenario.bound || !finder.empty()) continue;
        const auto found = Explorer().search(bound, scenario.program);
        runs += found.runs;
        if (!found.failure.empty())
          finder =
              std::to_string(bound) + " preemptions in '" + scenario.name + "': " + found.failure;
      }
    BOOST_TEST(!finder.empty(), "not found: " << planted_engine::names[defect]);
    BOOST_TEST_MESSAGE(planted_engine::names[defect] << ": found after " << runs
                                                     << " schedules, with at most " << finder);
  }
  planted_engine::defect = 0;
}

BOOST_AUTO_TEST_SUITE_END()
