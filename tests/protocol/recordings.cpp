// A recording of a driven world tells what happened there, under every schedule.
#include <algorithm>

#include "observe/trace/check.hpp"
#include "observe/trace/joined_trace.hpp"
#include "tests/protocol/observed.hpp"
#include "tests/recorded_program.hpp"

using namespace polychron;
using namespace polychron::testing;
using stress::World;
using trace::Event;

namespace {

struct Steps : stress::RunRecording {
  trace::JoinedTrace story() const { return trace::join(file()); }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(recordings)

BOOST_AUTO_TEST_CASE(what_must_hold_of_every_run_holds_of_its_recording) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const int lanes = 1 + static_cast<int>(seed % 3);
    Steps steps;
    stress::RandomStrategy strategy(seed);
    World world(strategy);
    {
      Observed observed(world, steps.observer_for("main", lanes));
      work(observed, lanes);
      world.run();
    }
    world.run();
    const auto story = steps.story();
    BOOST_TEST_CONTEXT("seed " << seed) {
      const auto verdict = trace::check(story);
      for (const auto& broken : verdict.broken) BOOST_ERROR(broken);
      BOOST_TEST(verdict.checked > 100U);
      BOOST_TEST(story.dropped == 0U);
      BOOST_TEST(story.contexts.size() == 1U);
      const auto count = [&](Event::Kind kind, const std::string& name) {
        return std::ranges::count_if(story.events, [&](const Event& event) {
          return event.kind == kind && event.name == name;
        });
      };
      BOOST_TEST(count(Event::Kind::operation, "create_tensor") == 4);
      BOOST_TEST(count(Event::Kind::operation, "write") == 5);
      BOOST_TEST(count(Event::Kind::operation, "dispatch") == 7);
      BOOST_TEST(count(Event::Kind::call, "dispatch") == 7);
      BOOST_TEST(count(Event::Kind::operation, "release of a graph") == 1);
      // The late one was not run, and says why.
      const auto late = std::ranges::find_if(story.events, [](const Event& event) {
        return event.kind == Event::Kind::operation && event.label == "late";
      });
      BOOST_REQUIRE(late != story.events.end());
      BOOST_TEST((late->state == Event::State::not_run));
      BOOST_REQUIRE(!late->error.empty());
      BOOST_TEST(late->error[0].kind == "timed_out");
      for (const auto& actor : story.actors)
        BOOST_TEST((actor.kind == "caller" || actor.end), actor.kind << " did not end");
      for (const auto& event : story.events)
        BOOST_TEST((event.cause || event.kind == Event::Kind::call || event.name == "meet"),
                   "nothing led to " << trace::title_of(event));
    }
  }
}

// A caller's thread shows why it does not go on.
BOOST_AUTO_TEST_CASE(waits_of_callers_are_bars) {
  Steps steps;
  stress::RandomStrategy strategy(1);
  World world(strategy);
  {
    world.observe(steps.observer_for("main", 1));
    ContextOptions options;
    options.label = "main";
    options.max_in_flight = 1;
    auto context = world.settle(world.runtime().create_context(options)).value();
    auto tensor = world.settle(context.create_tensor(stress::value_descriptor)).value();
    context.write_tensor(tensor, std::vector<std::uint64_t>{1});
    context.write_tensor(tensor, std::vector<std::uint64_t>{2});  // waits for the first
    context.read_tensor(tensor).get();
    auto settled = context.read_tensor(tensor);
    world.run();
    settled.get();  // does not wait
  }
  world.run();
  const auto story = steps.story();
  std::vector<std::string> waits;
  for (const auto& wait : story.waits) {
    if (wait.event) continue;
    BOOST_TEST(story.actors[wait.actor].kind == "caller");
    BOOST_TEST(wait.end > wait.begin);
    waits.push_back(wait.text);
  }
  BOOST_REQUIRE(waits.size() >= 2U);
  BOOST_TEST(std::ranges::count(waits, "the caller waits for a permit of context 'main'") >= 1);
  BOOST_TEST(std::ranges::count(waits, "the caller waits for a reply of context 'main'") == 1);
}

BOOST_AUTO_TEST_CASE(what_holds_of_every_run_holds_of_random_programs) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const auto [program, result, recording] = recorded_program(seed);
    const auto story = trace::join(recording);
    BOOST_TEST_CONTEXT("seed " << seed) {
      BOOST_TEST(!result.finding.has_value());
      for (const auto& broken : trace::check(story).broken) BOOST_ERROR(broken);
      const auto handled = std::ranges::count_if(story.events, [](const Event& event) {
        return event.kind == Event::Kind::handling || event.kind == Event::Kind::outcome ||
               event.kind == Event::Kind::failure;
      });
      BOOST_TEST(static_cast<std::size_t>(handled) == result.messages);
      BOOST_TEST(story.contexts.size() == program.contexts);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_broken_run_is_told) {
  Steps steps;
  stress::RandomStrategy strategy(7);
  World world(strategy);
  {
    Observed observed(world, steps.observer_for("main", 2));
    work(observed, 2);
    world.run();
  }
  world.run();
  const auto good = steps.story();
  BOOST_REQUIRE(trace::check(good).broken.empty());
  const auto breaks = [&](const char* what, auto damage) {
    auto story = good;
    damage(story);
    BOOST_TEST(!trace::check(story).broken.empty(), "nothing was said of " << what);
  };
  const auto operation = [](trace::JoinedTrace& story,
                            const std::string& name) -> trace::Operation& {
    return *std::ranges::find_if(story.operations, [&](const trace::Operation& o) {
      return story.events[o.event].name == name;
    });
  };
  breaks("a ticket that is carried out twice", [&](trace::JoinedTrace& story) {
    const auto write = operation(story, "write");
    story.operations.push_back(write);
  });
  breaks("writes in the wrong order", [&](trace::JoinedTrace& story) {
    std::vector<trace::Index> writes;
    for (const auto& o : story.operations)
      if (story.events[o.event].name == "write") writes.push_back(o.event);
    std::swap(story.events[writes[0]].ticket, story.events[writes[1]].ticket);
  });
  breaks("a use after the release", [&](trace::JoinedTrace& story) {
    auto& release = operation(story, "release");
    const auto id = release.writes.at(0);
    story.operations.back().reads.push_back(id);
  });
  breaks("two messages at once", [&](trace::JoinedTrace& story) {
    const auto handling = std::ranges::find(story.events, Event::Kind::handling, &Event::kind);
    handling->duration += good.length;
  });
  breaks("an operation in no handling", [&](trace::JoinedTrace& story) {
    story.events[operation(story, "dispatch").event].cause.reset();
  });
  breaks("a message that is handled twice", [&](trace::JoinedTrace& story) {
    const auto handled =
        std::ranges::find_if(story.messages, [](const auto& m) { return m.to.has_value(); });
    story.messages.push_back(*handled);
  });
  breaks("a message that is lost", [&](trace::JoinedTrace& story) {
    const auto handled = std::ranges::find_if(story.messages, [&](const trace::Message& m) {
      return m.to && m.name == "write";  // more of them follow
    });
    story.actors[*handled->to_actor].end.reset();
    handled->to.reset();
  });
}

BOOST_AUTO_TEST_SUITE_END()
