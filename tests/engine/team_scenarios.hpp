// Small programs of lanes and helpers that share steps, with what must hold.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/engine/scenarios.hpp"

namespace testing::exploring {

template <class Engine>
struct TeamScenarios {
  /// Its parts run once, and never after run() has returned.
  struct Parts {
    Parts(Explorer& on, std::size_t count, std::function<void(std::size_t)> f = {})
        : explorer(on), runs(count), part_of(std::move(f)) {}
    void run_part(std::size_t part) {
      explorer.require(!over, "no part runs once its step is over");
      explorer.require(!std::exchange(runs[part], true), "a part runs once");
      explorer.point();
      if (part_of) part_of(part);
      ++ended;
    }

    Explorer& explorer;
    std::vector<char> runs;
    std::function<void(std::size_t)> part_of;
    std::size_t ended = 0;
    bool over = false;
  };
  struct Platform {
    template <class T>
    using Atomic = Model::Atomic<T>;
    using Step = Parts;
    using Spin = Model::Spin;
  };
  using Steps = typename Engine::template Steps<Platform>;

  /// Helpers on threads of their own, which end with it.
  class Team {
   public:
    Team(Explorer& explorer, std::size_t lanes, std::size_t cores)
        : explorer_(explorer), steps(lanes, cores, all) {
      for (std::size_t helper = 0; helper < steps.helpers(); ++helper)
        helpers_.push_back(explorer.spawn("helper", [this, helper] { steps.serve(helper); }));
    }
    void run(std::size_t lane, Parts& parts) {
      steps.run(lane, parts, parts.runs.size());
      parts.over = true;
      explorer_.require(parts.ended == parts.runs.size(), "all parts end before run() returns");
    }
    /// An execution of a lane: `count` steps of two parts.
    void execute(std::size_t lane, int count) {
      steps.begin();
      // Steps outlive the execution, so that a late part is found out.
      for (int i = 0; i < count; ++i)
        run(lane, *kept_.emplace_back(std::make_unique<Parts>(explorer_, 2)));
      steps.end();
    }
    void finish() {
      steps.close();
      for (const auto helper : helpers_) explorer_.join(helper);
    }

   private:
    Explorer& explorer_;
    std::vector<std::size_t> helpers_;
    std::vector<std::unique_ptr<Parts>> kept_;

   public:
    Model::Atomic<int> all{0};
    Steps steps;
  };

  static std::vector<Scenario> all() {
    return {
        {"helpers end that were never called", 2,
         [](Explorer& explorer) {
           Team team(explorer, 1, 3);
           team.finish();
         }},
        {"each part of two steps runs once", 2,
         [](Explorer& explorer) {
           Team team(explorer, 1, 2);
           team.execute(0, 2);
           team.finish();
         }},
        {"a helper comes when it is needed, also if it slept", 2,
         [](Explorer& explorer) {
           Team team(explorer, 1, 2);
           Signal arrived[2] = {Signal(explorer), Signal(explorer)};
           Parts both(explorer, 2, [&](std::size_t part) {
             arrived[part].set();
             arrived[1 - part].await();
           });
           team.run(0, both);
           team.finish();
         }},
        {"a helper leaves the parts to two lanes that have the two cores", 2,
         [](Explorer& explorer) {
           Team team(explorer, 2, 2);
           team.steps.begin();
           team.steps.begin();
           const auto here = explorer.self();
           Parts parts(explorer, 2, [&](std::size_t) {
             explorer.require(explorer.self() == here, "each execution has a core");
           });
           team.run(1, parts);
           team.steps.end();
           team.steps.end();
           team.finish();
         }},
        {"a helper leaves the parts while another context has the core", 2,
         [](Explorer& explorer) {
           Team team(explorer, 1, 2);
           team.all.fetch_add(1);
           team.steps.begin();
           const auto here = explorer.self();
           Parts parts(explorer, 2, [&](std::size_t) {
             explorer.require(explorer.self() == here, "the other execution has a core");
           });
           team.run(0, parts);
           team.finish();
         }},
        {"a helper goes from lane to lane", 1,
         [](Explorer& explorer) {
           Team team(explorer, 2, 2);
           const auto other = explorer.spawn("lane", [&] { team.execute(1, 1); });
           team.execute(0, 1);
           explorer.join(other);
           team.finish();
         }},
        {"a part that fails fails its step, once all have ended, and no other", 2,
         [](Explorer& explorer) {
           Team team(explorer, 1, 2);
           Parts bad(explorer, 2, [](std::size_t part) {
             if (part == 1) throw std::runtime_error("part");
           });
           bool thrown = false;
           try {
             team.steps.run(0, bad, 2);
           } catch (const std::runtime_error&) {
             thrown = true;
           }
           bad.over = true;
           explorer.require(thrown, "the exception of a part is thrown");
           team.execute(0, 1);
           team.finish();
         }},
    };
  }
};

}  // namespace testing::exploring
