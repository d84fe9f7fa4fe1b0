// The records of a context: calls, messages, operations, errors, steps, waits.
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <latch>
#include <set>
#include <thread>

#include "observe/trace/summary.hpp"
#include "tests/allocated.hpp"
#include "tests/patience.hpp"
#include "tests/trace/recorded.hpp"

using namespace polychron;
using namespace polychron::testing;
using trace::Event;

BOOST_AUTO_TEST_SUITE(stories)

BOOST_AUTO_TEST_CASE(a_dispatch_is_followed_from_the_call_to_the_step) {
  Recorded recorded({.steps = true});
  const auto in = recorded.tensor("x"), out = recorded.tensor("y");
  const auto graph = recorded.graph("g");
  recorded.context.write_tensor(in, std::vector{3.0F});
  recorded.context.dispatch(graph, {{"in", in}}, {{"out", out}}, {.label = "foo"});
  const auto answer = recorded.context.read_tensor(out).get();
  BOOST_TEST(answer.as<float>()[0] == 7);
  recorded.runtime.shutdown();
  const auto story = recorded.story();
  testing::check_promises(story);

  const auto dispatches = operations(story, "dispatch");
  BOOST_REQUIRE(dispatches.size() == 1U);
  const auto& dispatch = story.events[dispatches[0]];
  BOOST_TEST(dispatch.label == "foo");
  BOOST_TEST(dispatch.object == "graph 'g'");
  BOOST_TEST((dispatch.state == Event::State::done));
  BOOST_TEST(story.actors[dispatch.actor].kind == "device");
  BOOST_TEST(story.actors[dispatch.actor].label == "lane 0");
  // From the operation back: the lane's handling, the context's, the call.
  BOOST_REQUIRE(dispatch.cause);
  const auto& carried = story.events[*dispatch.cause];
  BOOST_TEST(carried.ticket == dispatch.ticket);
  BOOST_REQUIRE(carried.cause);
  const auto& submitted = story.events[*carried.cause];
  BOOST_TEST(story.actors[submitted.actor].kind == "context");
  BOOST_REQUIRE(submitted.cause);
  const auto& call = story.events[*submitted.cause];
  BOOST_TEST((call.kind == Event::Kind::call));
  BOOST_TEST(call.name == "dispatch");
  BOOST_TEST(call.label == "foo");
  BOOST_TEST(story.actors[call.actor].kind == "caller");
  // And its steps.
  const auto steps = testing::events_where(
      story, [](const Event& event) { return event.kind == Event::Kind::step; });
  BOOST_REQUIRE(!steps.empty());
  BOOST_TEST(story.events[steps[0]].ticket == dispatch.ticket);
  BOOST_TEST(*story.events[steps[0]].cause == dispatches[0]);
  BOOST_TEST(!story.events[steps[0]].detail.empty());
  BOOST_TEST(operations(story, "read").size() == 1U);
  BOOST_TEST(operations(story, "create_tensor").size() == 2U);
}

BOOST_AUTO_TEST_CASE(an_error_is_followed_to_where_it_began) {
  Recorded recorded;
  const auto a = recorded.tensor("a"), b = recorded.tensor("b"), c = recorded.tensor("c");
  const auto graph = recorded.graph("g");
  DispatchOptions late{.label = "late"};
  late.deadline = std::chrono::steady_clock::now() + std::chrono::hours(1);
  Cancellation cancellation;
  late.cancellation = cancellation;
  auto lease = recorded.context.export_tensor(a).get();  // so that it is still waiting
  recorded.context.dispatch(graph, {{"in", a}}, {{"out", b}}, late);
  recorded.context.dispatch(graph, {{"in", b}}, {{"out", c}}, {.label = "next"});
  auto read = recorded.context.read_tensor(c);
  cancellation.cancel();
  lease.return_now();
  BOOST_CHECK_THROW(read.get(), Error);
  recorded.runtime.shutdown();
  const auto story = recorded.story();
  testing::check_promises(story);
  const auto dispatches = operations(story, "dispatch");
  BOOST_REQUIRE(dispatches.size() == 2U);
  const auto& first = story.events[dispatches[0]];
  const auto& second = story.events[dispatches[1]];
  BOOST_TEST((first.state == Event::State::not_run));
  BOOST_REQUIRE(!first.error.empty());
  BOOST_TEST(first.error[0].kind == "aborted");
  BOOST_TEST((second.state == Event::State::not_run));
  BOOST_REQUIRE(second.error.size() >= 2U);
  BOOST_REQUIRE(second.cause);
  BOOST_TEST(*second.cause == dispatches[0], "the second's error comes from the first");
  const auto reads = operations(story, "read");
  BOOST_REQUIRE(reads.size() == 1U);
}

BOOST_AUTO_TEST_CASE(a_wait_says_what_it_was_for) {
  Recorded recorded;
  const auto a = recorded.tensor("a"), b = recorded.tensor("b");
  const auto graph = recorded.graph("g");
  auto lease = recorded.context.export_tensor(a).get();  // so that none is done before the last
  for (int i = 0; i < 50; ++i)
    recorded.context.dispatch(graph, {{"in", a}}, {{"out", b}}, {.label = "many"});
  auto read = recorded.context.read_tensor(b);
  lease.return_now();
  read.get();
  recorded.runtime.shutdown();
  const auto story = recorded.story();
  const auto waits_for = [&](const std::string& what) {
    return std::ranges::any_of(story.waits, [&](const trace::Wait& wait) {
      return wait.on && wait.text.find(what) != std::string::npos && wait.end > wait.begin;
    });
  };
  BOOST_TEST(waits_for("dispatch 'many' of graph 'g'"));
  for (const auto& wait : story.waits)
    if (wait.on) BOOST_TEST(story.events[*wait.on].end() <= wait.end);
}

BOOST_AUTO_TEST_CASE(several_threads_and_contexts_and_lanes) {
  Recorded recorded({}, {.label = "first", .lanes = 3});
  auto second = recorded.runtime.create_context({.label = "second"}).get();
  const auto graph = recorded.graph("g");
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        auto in = recorded.tensor("in" + std::to_string(t));
        auto out = recorded.tensor("out" + std::to_string(t));
        for (int i = 0; i < 100; ++i)
          recorded.context.dispatch(graph, {{"in", in}}, {{"out", out}});
        recorded.context.read_tensor(out).get();
      });
  }
  recorded.context = second, recorded.tensor("other");
  recorded.runtime.shutdown();
  const auto story = recorded.story();
  testing::check_promises(story);
  BOOST_TEST(story.contexts.size() == 2U);
  BOOST_TEST(story.contexts[0].label == "first");
  BOOST_TEST(story.contexts[1].label == "second");
  BOOST_TEST(operations(story, "dispatch").size() == 400U);
  const auto count = [&](const std::string& kind) {
    return std::ranges::count(story.actors, kind, &trace::Actor::kind);
  };
  BOOST_TEST(count("context") == 2);
  BOOST_TEST(count("device") == 4);
  BOOST_TEST(count("caller") == 5);
  BOOST_TEST(count("tensor") == 9);
  for (const auto& actor : story.actors) BOOST_TEST((actor.kind == "caller" || actor.end));
}

BOOST_AUTO_TEST_CASE(off_and_on_while_it_runs) {
  Recorded recorded;
  const auto a = recorded.tensor("a"), b = recorded.tensor("b");
  const auto graph = recorded.graph("g");
  const auto dispatch = [&](const char* label) {
    recorded.context.dispatch(graph, {{"in", a}}, {{"out", b}}, {.label = label});
    recorded.context.read_tensor(b).get();
  };
  dispatch("recorded");
  recorded.runtime.stop_trace();
  dispatch("not recorded");
  const auto labels = [&] {
    std::vector<std::string> found;
    const auto story = recorded.story();
    for (const auto index : operations(story, "dispatch"))
      found.push_back(story.events[index].label);
    return found;
  };
  BOOST_TEST(labels() == std::vector<std::string>{"recorded"}, boost::test_tools::per_element());
  recorded.runtime.start_trace();
  BOOST_TEST(labels().empty(), "a new recording begins empty");
  dispatch("again");
  // Live: from the last read's answer its lane may still be on the way back.
  dispatch("again");
  BOOST_TEST(!labels().empty());
  const auto story = recorded.story();
  const auto index = operations(story, "dispatch").at(0);
  BOOST_TEST(story.events[index].object == "graph 'g'", "names that are older are known");
  BOOST_TEST(recorded.context.stats().failed == 0U);
}

BOOST_AUTO_TEST_CASE(a_context_can_be_left_out_and_taken_in_again) {
  Recorded recorded;
  const auto labels = [&] {
    std::vector<std::string> found;
    for (const auto& event : recorded.story().events)
      if (event.kind == trace::Event::Kind::call && event.name == "write")
        found.push_back(event.label);
    return found;
  };
  const auto tensor = recorded.tensor("t");
  const auto write = [&](const std::string& label) {
    recorded.context.write_tensor(tensor, std::vector{1.0F}, {.label = label});
    recorded.context.read_tensor(tensor).get();
  };
  write("first");
  recorded.context.set_traced(false);
  write("left out");
  recorded.runtime.start_trace();  // which takes in whom nobody left out
  write("left out still");
  BOOST_TEST(labels().empty());
  recorded.context.set_traced(true);
  write("again");
  BOOST_TEST(labels() == std::vector<std::string>{"again"}, boost::test_tools::per_element());
  try {
    Context().set_traced(true);
    BOOST_ERROR("expected type_error of a context that refers to nothing");
  } catch (const Error& error) {
    BOOST_TEST((error.kind() == ErrorKind::type_error), error.what());
  }
}

BOOST_AUTO_TEST_CASE(what_is_oldest_is_dropped_and_counted) {
  Recorded recorded({.max_bytes = 64 << 10});
  const auto a = recorded.tensor("a"), b = recorded.tensor("b");
  const auto graph = recorded.graph("g");
  for (int i = 0; i < 5000; ++i)
    recorded.context.dispatch(graph, {{"in", a}}, {{"out", b}},
                              {.label = "number " + std::to_string(i)});
  recorded.context.read_tensor(b).get();
  recorded.runtime.shutdown();
  const auto bytes = recorded.runtime.trace();
  BOOST_TEST(bytes.size() < 256U << 10);
  const auto story = trace::join(bytes);
  BOOST_TEST(story.dropped > 1000U);
  testing::check_promises(story);
  const auto dispatches = operations(story, "dispatch");
  BOOST_REQUIRE(!dispatches.empty());
  // Another thread may have written its names, in a piece that was dropped as the oldest.
  const auto& last = story.events[dispatches.back()];
  BOOST_TEST((last.label.empty() || last.label == "number 4999"), last.label);
  BOOST_TEST((last.object.empty() || last.object == "graph 'g'"), last.object);
}

BOOST_AUTO_TEST_CASE(threads_that_end_leave_what_they_did) {
  Recorded recorded;
  const auto a = recorded.tensor("a");
  for (int t = 0; t < 50; ++t)
    std::thread([&] { recorded.context.write_tensor(a, std::vector{1.0F}); }).join();
  recorded.context.read_tensor(a).get();
  recorded.runtime.shutdown();
  const auto bytes = recorded.runtime.trace();
  BOOST_TEST(bytes.size() < 128U << 10, bytes.size() << " bytes");
  const auto story = trace::join(bytes);
  BOOST_TEST(operations(story, "write").size() == 50U);
  BOOST_TEST(std::ranges::count(story.actors, "caller", &trace::Actor::kind) == 51);
}

BOOST_AUTO_TEST_CASE(calls_with_more_bytes_than_there_is_room_for_are_dropped) {
  Recorded recorded({.max_bytes = 1 << 20, .calls = TraceCalls::payloads});
  constexpr std::uint32_t count = 1 << 20;  // 4 MiB
  const auto tensor =
      recorded.context.create_tensor({{DataType::float32, {count}}, true, true, "large"}).get();
  const std::vector<float> values(count);
  const bool tell = can_tell_allocated();
  const auto round = [&] {
    recorded.context.write_tensor(tensor, values);
    recorded.context.read_tensor(tensor).get();
  };
  round();
  const auto before = tell ? allocated_bytes() : 0;
  for (int thread = 0; thread < 4; ++thread) {
    std::latch recorded_one(1);
    const std::jthread caller([&] {
      round();
      recorded_one.count_down();
    });
    recorded_one.wait();
  }
  if (tell) BOOST_TEST(allocated_bytes() < before + (4U << 20U));
  const auto story = recorded.story();
  BOOST_TEST(story.dropped > 0U);
  check_promises(story);
}

BOOST_AUTO_TEST_CASE(a_gap_is_no_sign_of_a_defect) {
  Runtime runtime;
  runtime.start_trace();
  auto traced = runtime.create_context().get();
  const auto t = traced.create_tensor({one_number, true, true, "t"}).get();
  for (int i = 0; i < 200; ++i) {  // the gaps begin and end while reads are on their way
    const auto before = traced.read_tensor(t), among = traced.read_tensor(t);
    traced.set_traced(false);
    const auto after = traced.read_tensor(t);
    traced.set_traced(true);
    before.wait();
    among.wait();
    after.wait();
  }
  runtime.shutdown();
  const auto story = trace::join(runtime.trace());
  BOOST_TEST(story.gaps);
  for (const auto& broken : trace::check(story).broken) BOOST_ERROR(broken);
}

BOOST_AUTO_TEST_CASE(a_wait_for_a_lease_says_so_and_the_lease_is_seen) {
  Recorded recorded({}, {.lanes = 2});
  const auto prices = recorded.tensor("prices"), out = recorded.tensor("out");
  const auto other = recorded.tensor("other");
  const auto graph = recorded.graph("g");
  auto lease = recorded.context.export_tensor(prices).get();
  recorded.context.dispatch(graph, {{"in", prices}}, {{"out", out}}, {.label = "needs prices"});
  recorded.context.read_tensor(other).get();  // goes on meanwhile
  lease.return_now();
  recorded.context.read_tensor(out).get();
  recorded.runtime.shutdown();  // a story of what still goes on may lack what led to its end
  const auto story = recorded.story();
  check_promises(story);
  const auto exported = operations(story, "export"), waited = operations(story, "dispatch");
  BOOST_REQUIRE(exported.size() == 1U && waited.size() == 1U);
  bool seen = false, explained = false;
  for (const auto& wait : story.waits) {
    seen |= wait.goes_on && wait.event == exported.front() &&
            wait.text.starts_with("tensor 'prices' is on lease");
    if (wait.goes_on || wait.event != waited.front()) continue;
    explained = wait.on == exported.front();
    BOOST_TEST(wait.text.find("waits for the end of a lease: export of tensor 'prices'") !=
                   std::string::npos,
               wait.text);
  }
  BOOST_TEST(seen);
  BOOST_TEST(explained);
}

BOOST_AUTO_TEST_CASE(each_lane_has_a_name_of_its_own) {
  Recorded recorded({}, {.lanes = 3});
  const auto a = recorded.tensor("a"), b = recorded.tensor("b"), c = recorded.tensor("c");
  const auto graph = recorded.graph("g");
  for (int i = 0; i < 50; ++i) {  // lanes wait for each other
    recorded.context.dispatch(graph, {{"in", a}}, {{"out", b}});
    recorded.context.dispatch(graph, {{"in", a}}, {{"out", c}});
    recorded.context.dispatch(graph, {{"in", b}}, {{"out", a}});
  }
  recorded.context.read_tensor(c).get();
  recorded.context.read_tensor(a).get();
  const auto story = recorded.story();
  std::set<std::string> names;
  for (const auto& actor : story.actors)
    if (actor.kind == "device" && !actor.label.empty())
      BOOST_TEST(names.insert(actor.label).second, "two are called " << actor.label);
  BOOST_TEST(!names.empty());
}

BOOST_AUTO_TEST_CASE(threads_have_their_names) {
  Recorded recorded;
  const auto tensor = recorded.tensor("t");
  std::thread named([&] {
    pthread_setname_np(pthread_self(), "holder");
    recorded.context.read_tensor(tensor).get();
  });
  named.join();
  const auto story = recorded.story();
  BOOST_TEST(std::ranges::any_of(story.actors, [](const trace::Actor& actor) {
    return actor.kind == "caller" && actor.label.ends_with("'holder'");
  }));
}

BOOST_AUTO_TEST_CASE(the_slowest_ticket_is_followed_from_its_own_call) {
  Recorded recorded;
  const auto prices = recorded.tensor("prices");
  recorded.runtime.start_trace();  // without what came first, which waited for threads
  auto lease = recorded.context.export_tensor(prices).get();
  recorded.context.write_tensor(prices, std::vector{1.0F}, {.label = "held up"});
  // Whatever comes meanwhile takes less long.
  for (int i = 0; i < 20; ++i) static_cast<void>(recorded.graph("g"));
  lease.return_now();
  recorded.context.read_tensor(prices).get();
  recorded.runtime.shutdown();  // a story of what still goes on may lack its end
  const auto text = trace::summary(recorded.story());
  const auto section = text.substr(text.find("The slowest ticket"));
  BOOST_TEST(section.find("calls write 'held up'") != std::string::npos, text);
  BOOST_TEST(section.find("waits for the end of a lease") != std::string::npos, text);
}

BOOST_AUTO_TEST_SUITE_END()
