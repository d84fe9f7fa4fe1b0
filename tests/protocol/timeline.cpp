// The order of a lane by itself, without actors: each rule once, and random programs against the
// model of tests/protocol/timeline_model.hpp.
#include "tests/protocol/fixture.hpp"
#include "tests/protocol/timeline_model.hpp"

using namespace polychron;
using namespace polychron::testing;
using actors::Timeline;
using msg::Ticket;
using Turns = std::vector<Ticket>;

namespace {

const msg::Clock::time_point noon{std::chrono::hours(12)};

/// A timeline under a device that carries out operations at once, except those that go on.
struct Lane {
  void arrive(msg::carry_out message) {
    if (timeline.may_start(message)) {
      const auto turn = message.stamp.at.turn;
      if (start(turn))
        timeline.keep_running(std::move(message), noon, true);
      else
        timeline.advance();
    } else {
      timeline.keep(std::move(message), noon);
    }
    if (!timeline.idle()) carry_on();
  }
  void end(Ticket turn) {
    timeline.finish(turn);
    carry_on();
  }
  void reach(const msg::Wait& wait) {
    timeline.reached(wait);
    carry_on();
  }
  void carry_on() {
    while (auto* const next = timeline.next()) {
      const auto turn = next->stamp.at.turn;
      if (start(turn))
        timeline.granted(turn);
      else
        timeline.finish(turn);
    }
  }
  bool start(Ticket turn) {
    started.push_back(turn);
    return goes_on.contains(turn);
  }
  /// Operations that have started since the last question.
  Turns heard() { return std::exchange(started, {}); }

  std::set<Ticket> goes_on;  ///< turns that do not end at once
  Turns started;
  std::vector<msg::Wait> known, asked;
  Timeline timeline{[this](const msg::Wait& w) {
                      return std::find(known.begin(), known.end(), w) != known.end();
                    },
                    [this](const msg::Wait& w) { asked.push_back(w); }};
};

op::Read read(const msg::TensorRef& tensor) { return {tensor, nullptr}; }
op::Write write(const msg::TensorRef& tensor) { return {tensor, nullptr, "w", {}}; }
op::Lend lend(const msg::TensorRef& tensor) { return {tensor, nullptr}; }

/// The waits of `lane`'s operations, in the order of their turns.
std::vector<std::string> waits_of(const Lane& lane) {
  std::vector<std::string> texts;
  for (const auto& pending : lane.timeline.pending()) texts.push_back(pending.waits_for);
  return texts;
}

const auto a = make_tensor(1), b = make_tensor(2);

}  // namespace

BOOST_TEST_DONT_PRINT_LOG_VALUE(Turns)

BOOST_AUTO_TEST_SUITE(timeline)

BOOST_AUTO_TEST_CASE(turns_are_taken_in_order_whatever_order_they_arrive_in) {
  Lane lane;
  lane.arrive(turn(3, write(a)));
  lane.arrive(turn(2, read(b)));
  BOOST_TEST(lane.heard().empty());
  BOOST_TEST(lane.timeline.done_below() == 1U);
  BOOST_TEST(!lane.timeline.idle());
  lane.arrive(turn(1, write(b)));
  BOOST_TEST((lane.heard() == Turns{1, 2, 3}));
  BOOST_TEST(lane.timeline.done_below() == 4U);
  BOOST_TEST(lane.timeline.idle());
}

BOOST_AUTO_TEST_CASE(a_turn_that_arrives_again_breaks_an_invariant) {
  Lane lane;
  lane.arrive(turn(2, read(a)));
  BOOST_CHECK_THROW(lane.timeline.keep(turn(2, read(a)), noon), std::exception);
  lane.arrive(turn(1, read(a)));
  BOOST_CHECK_THROW(lane.timeline.keep(turn(1, read(a)), noon), std::exception);
  BOOST_CHECK_THROW(lane.timeline.finish(1), std::exception);
}

BOOST_AUTO_TEST_CASE(readers_run_side_by_side_and_writers_alone) {
  Lane lane;
  lane.goes_on = {1, 2, 3, 4};
  lane.arrive(turn(1, read(a)));
  lane.arrive(turn(2, read(a)));
  lane.arrive(turn(3, write(a)));
  lane.arrive(turn(4, read(a)));  // does not overtake the writer
  BOOST_TEST((lane.heard() == Turns{1, 2}));
  BOOST_TEST((lane.timeline.running(2) != nullptr && lane.timeline.running(3) == nullptr));
  lane.end(1);
  BOOST_TEST(lane.heard().empty());
  lane.end(2);
  BOOST_TEST((lane.heard() == Turns{3}));
  lane.end(3);
  BOOST_TEST((lane.heard() == Turns{4}));
  BOOST_TEST((lane.timeline.done(3) && !lane.timeline.done(4) && !lane.timeline.done(5)));
}

BOOST_AUTO_TEST_CASE(a_lease_holds_up_what_depends_on_it_and_nothing_else) {
  Lane lane;
  lane.goes_on = {1};
  lane.arrive(turn(1, lend(a)));
  lane.arrive(turn(2, op::Dispatch{make_graph(1), {a}, {b}, "d", {}}));
  lane.arrive(turn(3, read(b)));
  lane.arrive(turn(4, read(make_tensor(3))));
  BOOST_TEST((lane.heard() == Turns{1, 4}));
  BOOST_TEST(lane.timeline.done_below() == 1U);
  lane.end(1);
  BOOST_TEST((lane.heard() == Turns{2, 3}));
}

BOOST_AUTO_TEST_CASE(what_waits_for_another_lane_asks_it_once_and_is_told) {
  Lane lane;
  const msg::Wait wait{{1, 7}, a.get()}, known{{2, 3}, a.get()};
  lane.known = {known};
  lane.arrive(turn(1, write(a), {wait, known}));
  lane.arrive(turn(2, read(a)));
  lane.arrive(turn(3, read(b)));
  BOOST_TEST((lane.heard() == Turns{3}));
  BOOST_TEST((lane.asked == std::vector{wait}));
  lane.reach({{1, 7}, b.get()});  // another object
  lane.reach({{1, 6}, a.get()});  // another turn
  BOOST_TEST(lane.heard().empty());
  lane.reach(wait);
  BOOST_TEST((lane.heard() == Turns{1, 2}));
  lane.reach(wait);
  BOOST_TEST(lane.heard().empty());
  BOOST_TEST(lane.asked.size() == 1U);
}

BOOST_AUTO_TEST_CASE(a_fence_waits_for_what_was_called_since_its_first_ticket) {
  Lane lane;
  lane.goes_on = {1, 2};
  lane.arrive(turn(1, lend(a)));
  lane.arrive(turn(2, lend(b)));
  lane.arrive(turn(3, read(a)));
  lane.arrive(turn(4, read(b)));
  lane.arrive(turn(5, op::Fence{1, 4}));
  lane.arrive(turn(6, op::Fence{2, 5}));  // waits for the fence before it alone
  lane.arrive(turn(7, op::Fence{3, 7}));  // for nothing
  BOOST_TEST((lane.heard() == Turns{1, 2, 7}));
  lane.end(2);
  BOOST_TEST((lane.heard() == Turns{4, 5, 6}));
  BOOST_TEST(!lane.timeline.done(3));
}

BOOST_AUTO_TEST_CASE(a_fence_waits_for_a_lease_until_it_is_granted) {
  Lane lane;
  lane.goes_on = {1, 2};
  lane.arrive(turn(1, lend(a)));
  lane.arrive(turn(2, lend(a)));
  lane.arrive(turn(3, op::Fence{1, 1}));
  BOOST_TEST((lane.heard() == Turns{1}));
  lane.timeline.granted(99);  // nobody
  lane.end(1);
  BOOST_TEST((lane.heard() == Turns{2, 3}));
  BOOST_TEST(lane.timeline.running(2) != nullptr);
}

BOOST_AUTO_TEST_CASE(another_lane_hears_when_what_it_asked_about_is_done) {
  Lane lane;
  lane.goes_on = {1, 2, 3};
  Turns told;
  const auto ask = [&](Ticket upto, const msg::TensorRef& tensor) {
    lane.timeline.when_done({{0, upto}, tensor.get()}, [&, upto] { told.push_back(upto); });
    return std::exchange(told, {});
  };
  lane.arrive(turn(1, lend(a)));
  BOOST_TEST((ask(1, b) == Turns{1}));  // nothing of this lane touches it
  BOOST_TEST(ask(1, a).empty());        // until the lease ends: a grant is not enough
  BOOST_TEST(ask(2, b).empty());        // its turn has not come
  lane.arrive(turn(3, read(a)));
  BOOST_TEST(told.empty());
  lane.arrive(turn(2, read(a)));
  BOOST_TEST((std::exchange(told, {}) == Turns{2}));
  BOOST_TEST(ask(2, a).empty());
  lane.end(1);
  BOOST_TEST((std::exchange(told, {}) == Turns{1}));
  lane.end(3);
  BOOST_TEST(told.empty());  // turn 2 reads still; turn 3 was not asked about
  lane.end(2);
  BOOST_TEST((told == Turns{2}));
  BOOST_TEST(lane.timeline.idle());
}

BOOST_AUTO_TEST_CASE(pending_says_what_each_operation_waits_for) {
  Lane lane;
  lane.goes_on = {1};
  lane.arrive(turn(1, lend(a), {}, 10));
  lane.arrive(turn(2, write(a), {}, 11));
  lane.arrive(turn(3, write(b), {{{1, 7}, b.get()}}, 12));
  lane.arrive(turn(4, op::Fence{1, 11}, {}, 13));
  lane.arrive(turn(6, read(b), {}, 15));
  const std::vector<std::string> expected{"the end of the lease", "export (ticket 10) of tensor #1",
                                          "turn 7 of lane 1", "what was called before it",
                                          "its turn: turn 5 of the lane has not arrived"};
  const auto found = waits_of(lane);
  BOOST_TEST(found == expected, boost::test_tools::per_element());
  const auto pending = lane.timeline.pending();
  BOOST_TEST(pending[1].operation == "write");
  BOOST_TEST(pending[1].label == "w");
  BOOST_TEST(pending[1].object == "tensor #1");
  BOOST_TEST(pending[1].ticket == 11U);
  BOOST_TEST((pending[1].since == noon));
}

namespace {

/// One random program on a Lane and the model; tells the first disagreement.
class Comparison {
 public:
  explicit Comparison(std::uint64_t seed) : random_(seed), program_(random_, 30) {
    for (const auto& operation : program_.operations) {
      model_.add(operation);
      if (random_() % 5 == 0) lane_.goes_on.insert(operation.stamp.at.turn);
    }
    std::shuffle(program_.operations.begin(), program_.operations.end(), random_);
  }

  std::string run() {
    auto& left = program_.operations;
    for (int quiet = 0; fault_.empty() && quiet < 200; ++quiet) {
      const auto what = random_() % 8;
      if (what < 4 && !left.empty()) {
        arrive(std::move(left.back()));
        left.pop_back();
      } else if (what == 4 && !running_.empty()) {
        end();
      } else if (what == 5 && answered_ < lane_.asked.size()) {
        reach();
      } else if (what == 6 && quiet < 100) {
        ask({{0, 1 + random_() % 30}, program_.object(random_)});
      } else if (what == 7) {
        lane_.known.push_back({{1, 1 + random_() % 4}, program_.tensors[random_() % 3].get()});
      } else if (left.empty() && running_.empty() && answered_ == lane_.asked.size()) {
        break;
      }
      compare();
    }
    while (fault_.empty() &&
           !(left.empty() && running_.empty() && lane_.asked.size() == answered_)) {
      if (!left.empty()) {
        arrive(std::move(left.back()));
        left.pop_back();
      } else if (!running_.empty()) {
        end();
      } else {
        reach();
      }
      compare();
    }
    check(lane_.timeline.idle() && open_.empty(), "something is left at the end");
    return fault_;
  }

 private:
  void check(bool holds, const std::string& what) {
    if (!holds && fault_.empty()) fault_ = what;
  }
  bool known(const msg::Wait& wait) const {
    return std::find(lane_.known.begin(), lane_.known.end(), wait) != lane_.known.end();
  }
  /// Turns that come now: what they wait for is what is not known by now.
  void admit() {
    for (Ticket turn = 1; turn < model_.next(); ++turn) {
      auto& one = model_.at(turn);
      if (std::exchange(one.admitted, true)) continue;
      std::erase_if(one.waits, [&](const msg::Wait& wait) { return known(wait); });
      expected_asks_ += one.waits.size();
    }
  }
  /// The model starts what it can, first turns first.
  void predict() {
    while (const auto turn = model_.first_to_start()) {
      predicted_.push_back(*turn);
      if (lane_.goes_on.contains(*turn)) {
        model_.at(*turn).running = true;
        running_.push_back(*turn);
      } else {
        model_.at(*turn).done = true;
      }
    }
  }
  void arrive(msg::carry_out message) {
    model_.at(message.stamp.at.turn).arrived = true;
    admit();
    predict();
    lane_.arrive(std::move(message));
  }
  void end() {
    const auto at = running_.begin() + static_cast<std::ptrdiff_t>(random_() % running_.size());
    const auto turn = *at;
    running_.erase(at);
    model_.at(turn).running = false;
    model_.at(turn).done = true;
    predict();
    lane_.end(turn);
  }
  void reach() {
    const auto wait = lane_.asked[answered_++];
    lane_.known.push_back(wait);
    for (auto& [turn, one] : model_.all())
      if (one.admitted) std::erase(model_.at(turn).waits, wait);
    predict();
    lane_.reach(wait);
  }
  void ask(const msg::Wait& wait) {
    const auto question = questions_++;
    open_.emplace(question, wait);
    lane_.timeline.when_done(wait, [this, question] {
      check(open_.contains(question), "a question is answered twice");
      const auto asked = open_.extract(question);
      check(asked.empty() || model_.over(asked.mapped()), "a question is answered too early");
    });
  }
  void compare() {
    check(lane_.heard() == std::exchange(predicted_, {}), "it starts others, or in another order");
    check(lane_.asked.size() == expected_asks_, "it asks other lanes too often or too seldom");
    check(lane_.timeline.done_below() == model_.done_below(), "done_below");
    for (const auto& [question, wait] : open_)
      check(!model_.over(wait), "a question is not answered");
    std::map<Ticket, std::string> waits;
    for (const auto& pending : lane_.timeline.pending()) waits[pending.ticket] = pending.waits_for;
    for (const auto& [turn, one] : model_.all()) {
      check(lane_.timeline.done(turn) == one.done, "done()");
      check((lane_.timeline.running(turn) != nullptr) == one.running, "running()");
      check(waits.contains(one.ticket) == (one.arrived && !one.done), "who is pending");
      if (waits.contains(one.ticket)) check_text(one, waits[one.ticket]);
    }
  }
  void check_text(const Modelled& one, const std::string& text) {
    std::set<std::string> right;
    if (one.running) {
      right = {"the end of the lease"};
    } else if (!one.admitted) {
      right = {"its turn: turn " + std::to_string(model_.next()) + " of the lane has not arrived"};
    } else if (!one.waits.empty()) {
      const auto& at = one.waits.front().at;
      right = {"turn " + std::to_string(at.turn) + " of lane " + std::to_string(at.lane)};
    } else if (one.fence) {
      right = {"what was called before it"};
    } else {
      for (const auto& [turn, other] : model_.all())
        for (const auto& touched : one.footprint)
          if (turn < one.turn && !other.done && other.touches(touched.first))
            right.insert(other.text);
    }
    check(right.contains(text), "turn " + std::to_string(one.turn) + " says it waits for " + text);
  }

  std::mt19937_64 random_;
  LaneProgram program_;
  TimelineModel model_;
  Lane lane_;
  Turns predicted_, running_;
  std::size_t answered_ = 0, expected_asks_ = 0, questions_ = 0;
  std::map<std::size_t, msg::Wait> open_;
  std::string fault_;
};

}  // namespace

BOOST_AUTO_TEST_CASE(random_programs_go_as_the_model_says) {
  const auto first = seed_of_run();
  for (auto seed = first; seed < first + 5000; ++seed) {
    const auto fault = Comparison(seed).run();
    BOOST_TEST_REQUIRE(fault == "", fault << "\n  again with POLYCHRON_SEED=" << seed);
  }
  BOOST_TEST_MESSAGE("programs: 5000, from POLYCHRON_SEED=" << first);
}

BOOST_AUTO_TEST_SUITE_END()
