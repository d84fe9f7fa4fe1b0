// A strategy's view of a world, and schedules that are written down and run again.
#include <map>
#include <set>

#include "observe/stress/distinct.hpp"
#include "observe/stress/explorer.hpp"
#include "tests/protocol/fixture.hpp"

using namespace polychron;
using namespace polychron::testing;
using stress::ReplayStrategy;
using stress::Runnable;
using stress::Schedule;
using stress::schedule_from_string;
using stress::World;

namespace {

/// Picks at random and keeps what it was shown.
class Witness : public stress::Strategy {
 public:
  explicit Witness(std::uint64_t seed) : random_(seed) {}
  std::size_t pick(std::span<const Runnable> runnables) override {
    const auto at = random_.pick(runnables);
    const auto& one = runnables[at];
    messages[one.actor()].insert(one.message());
    ids[one.actor()].insert(one.id());
    if (one.message() == "carry_out")
      footprints.push_back(one.footprint());
    else
      others_touch_something = others_touch_something || !one.footprint().empty();
    picked.push_back(one.actor());
    return at;
  }

  std::map<std::string, std::set<std::string>> messages;  ///< handled, by kind of actor
  std::map<std::string, std::set<std::uint64_t>> ids;
  std::vector<std::vector<std::pair<msg::Object, bool>>> footprints;  ///< of operations, in order
  std::vector<std::string> picked;
  bool others_touch_something = false;

 private:
  stress::RandomStrategy random_;
};

Result<Context> context_of(World& world, int lanes = 1) {
  ContextOptions options;
  options.lanes = lanes;
  return world.settle(world.runtime().create_context(options));
}

/// out = g(in) of a written value; gives what is read.
std::uint64_t small_program(World& world, int lanes) {
  auto context = context_of(world, lanes).value();
  const auto tensor = [&] {
    return world.settle(context.create_tensor(stress::value_descriptor)).value();
  };
  const auto in = tensor(), out = tensor();
  const auto graph =
      world.settle(detail::submit_build(context, stress::symbolic_graph("g", 1), {"g"})).value();
  context.write_tensor(in, std::vector{std::uint64_t{17}});
  context.dispatch(graph, {{"in0", in}}, {{"out", out}});
  std::uint64_t heard = 0;
  context.read_tensor(out).then(
      [&](Result<Buffer> bytes) { heard = bytes->as<std::uint64_t>()[0]; });
  world.run();
  return heard;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(strategies)

BOOST_AUTO_TEST_CASE(a_runnable_tells_who_it_is_and_what_it_would_handle) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Witness witness(seed);
    {
      World world(witness);
      BOOST_TEST(small_program(world, 2) == Server::result("g", 17));
    }
    BOOST_TEST(witness.messages["context"].contains("submit"));
    BOOST_TEST(witness.messages["context"].contains("compiled"));
    BOOST_TEST(witness.messages["device"].contains("meet"));
    BOOST_TEST(witness.messages["device"].contains("carry_out"));
    BOOST_TEST(witness.messages["compiler"].contains("compile"));
    BOOST_TEST(witness.messages["tensor"].contains("expect_of_tensor"));
    BOOST_TEST((witness.messages["callbacks"] == std::set<std::string>{""}));
    // Names tell kinds of actors apart, numbers tell actors of a kind apart.
    BOOST_TEST(witness.ids["context"].size() == 1U);
    BOOST_TEST(witness.ids["device"].size() == 2U);
    BOOST_TEST(witness.ids["tensor"].size() == 2U);
    BOOST_TEST((witness.ids["callbacks"] == std::set<std::uint64_t>{0}));
    std::set<std::uint64_t> all;
    std::size_t actors = 0;
    for (const auto& [kind, ids] : witness.ids) {
      all.insert(ids.begin(), ids.end());
      actors += ids.size();
    }
    BOOST_TEST(all.size() == actors);
  }
}

BOOST_AUTO_TEST_CASE(a_footprint_is_what_the_operation_touches_and_no_other_message_has_one) {
  Witness witness(3);
  {
    World world(witness);
    small_program(world, 1);
  }
  BOOST_TEST(!witness.others_touch_something);
  using Footprint = std::vector<std::pair<msg::Object, bool>>;
  // Arrivals of one lane may be handled in any order: their footprints tell them apart.
  std::size_t dispatches = 0, writers = 0, readers = 0;
  for (const auto& footprint : witness.footprints) {
    if (footprint.size() == 3) {
      ++dispatches;
      const std::set<msg::Object> objects{footprint[0].first, footprint[1].first,
                                          footprint[2].first};
      BOOST_TEST(objects.size() == 3U);
      BOOST_TEST((!footprint[0].second && !footprint[1].second && footprint[2].second));
    } else {
      BOOST_REQUIRE(footprint.size() == 1U);
      ++(footprint[0].second ? writers : readers);
    }
  }
  BOOST_TEST(dispatches == 1U);
  BOOST_TEST(readers == 1U);
  BOOST_TEST(writers >= 4U);  // two creations, a build, a write; what ends them
  BOOST_TEST((Runnable().footprint() == Footprint{}));
}

BOOST_AUTO_TEST_CASE(a_schedule_run_again_is_the_same_schedule_with_the_same_outcome) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const auto program = stress::random_program(seed);
    stress::RandomStrategy random(seed);
    const auto first = stress::run(program, random);
    BOOST_TEST(!first.finding.has_value(), first.finding.value_or(""));
    ReplayStrategy replay(schedule_from_string(stress::to_string(first.schedule)));
    const auto again = stress::run(program, replay);
    BOOST_TEST((again.schedule == first.schedule), "seed " << seed);
    BOOST_TEST(again.messages == first.messages, "seed " << seed);
  }
}

BOOST_AUTO_TEST_CASE(a_token_is_a_run) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const auto program = stress::random_program(seed);
    stress::RandomStrategy random(seed);
    const auto first = stress::run(program, random);
    stress::Program known;
    const auto again = stress::replay(stress::token_of(program, first.schedule), &known);
    BOOST_TEST((known == program), "seed " << seed);
    BOOST_TEST((again.schedule == first.schedule), "seed " << seed);
  }
}

BOOST_AUTO_TEST_CASE(what_is_no_token_is_refused) {
  const auto program = stress::random_program(3);
  const auto token = stress::token_of(program, {0, 1});
  for (const auto& text : {std::string(), std::string("A"), std::string("?"), token + token,
                           token.substr(0, token.size() / 2), std::string(500, 'g')})
    BOOST_CHECK_THROW(static_cast<void>(stress::replay(text)), Error);
  auto huge = program;
  huge.lanes = 1000;
  thrown(ErrorKind::bad_data, [&] { stress::replay(stress::token_of(huge, {})); });
  huge = program;
  huge.clients = {{{.kind = stress::Kind::dispatch, .inputs = {}}}};
  thrown(ErrorKind::bad_data, [&] { stress::replay(stress::token_of(huge, {})); });
  // A schedule of another program.
  thrown(ErrorKind::bad_data, [&] { stress::replay(stress::token_of(program, {4294967295})); });
}

BOOST_AUTO_TEST_CASE(a_world_run_again_picks_the_same_actors_and_gives_the_same_values) {
  class Recorder : public ReplayStrategy {
   public:
    using ReplayStrategy::ReplayStrategy;
    std::size_t pick(std::span<const Runnable> runnables) override {
      const auto at = ReplayStrategy::pick(runnables);
      picked.push_back(runnables[at].actor());
      return at;
    }
    std::vector<std::string> picked;
  };
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Witness witness(seed);
    World first(witness);
    const auto value = small_program(first, 2);
    Recorder recorder(first.schedule());
    World second(recorder);
    BOOST_TEST(small_program(second, 2) == value);
    BOOST_TEST(recorder.picked == witness.picked, boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(a_schedule_of_another_world_is_refused_and_a_short_one_goes_on_with_firsts) {
  const auto many = std::vector(3, Runnable());
  ReplayStrategy replay({2, 3});
  BOOST_TEST(replay.pick(many) == 2U);
  const auto error = thrown(ErrorKind::bad_data, [&] { static_cast<void>(replay.pick(many)); });
  BOOST_TEST(mentions(error, "pick 2 is 3 of 3"));
  ReplayStrategy none({});
  BOOST_TEST(none.pick(many) == 0U);
  World world(none);
  BOOST_TEST(small_program(world, 1) == Server::result("g", 17));
}

BOOST_AUTO_TEST_CASE(distinct_hashes_are_counted_about_right) {
  std::mt19937_64 random(5);
  for (const std::uint64_t different : {0U, 1U, 1000U, 300000U}) {
    stress::Distinct seen;
    for (std::uint64_t i = 0; i < different; ++i) {
      const auto hash = random();
      seen.add(hash);
      seen.add(hash);
    }
    BOOST_TEST(seen.count() >= different - different / 100);
    BOOST_TEST(seen.count() <= different + different / 100);
  }
}

BOOST_AUTO_TEST_CASE(schedules_are_written_and_read) {
  for (const auto& schedule : {Schedule{}, Schedule{0}, Schedule{0, 2, 1}, Schedule{4294967295, 7}})
    BOOST_TEST((schedule_from_string(stress::to_string(schedule)) == schedule));
  BOOST_TEST(stress::to_string(Schedule{0, 2, 1}) == "0.2.1");
  BOOST_TEST(stress::to_string(Schedule{}) == "");
}

BOOST_AUTO_TEST_CASE(what_is_no_schedule_is_refused) {
  for (const std::string text : {".", "1.", ".1", "1..2", "a", "1.a", "1a", "-1", "+1", " 1", "1 ",
                                 "1,2", "0x1", "4294967296", "99999999999999999999", "1.2."})
    thrown(ErrorKind::bad_data, [&] { schedule_from_string(text); });
  thrown(ErrorKind::bad_data, [] { schedule_from_string(std::string("1\0.2", 4)); });
}

BOOST_AUTO_TEST_CASE(every_callback_is_a_step_of_its_own) {
  Witness witness(1);
  World world(witness);
  auto context = context_of(world).value();
  const auto tensor = world.settle(context.create_tensor(stress::value_descriptor)).value();
  int called = 0;
  constexpr int reads = 3;
  for (int i = 0; i < reads; ++i)
    context.read_tensor(tensor).then([&](const Result<Buffer>&) { ++called; });
  const auto callbacks = [&] {
    return std::count(witness.picked.begin(), witness.picked.end(), "callbacks");
  };
  const auto before = callbacks();
  while (true) {
    const auto steps = world.steps();
    const auto had = called;
    const auto steps_of_callbacks = callbacks();
    if (!world.step()) break;
    BOOST_TEST(world.steps() == steps + 1);
    BOOST_TEST(called - had == callbacks() - steps_of_callbacks);
  }
  BOOST_TEST(called == reads);
  BOOST_TEST(callbacks() - before == reads);
  // Also for a future that is already settled: then() itself calls nobody.
  auto settled = context.read_tensor(tensor);
  world.run();
  BOOST_TEST(settled.ready());
  settled.then([&](const Result<Buffer>&) { ++called; });
  BOOST_TEST(called == reads);
  BOOST_TEST(world.step());
  BOOST_TEST(called == reads + 1);
  BOOST_TEST(witness.picked.back() == "callbacks");
}

BOOST_AUTO_TEST_SUITE_END()
