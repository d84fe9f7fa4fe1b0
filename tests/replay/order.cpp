// The order by logical times: of a recording made by hand, and of threads that race.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <thread>

#include "messages/shared/logical_clock.hpp"
#include "observe/recording/names.hpp"
#include "observe/replay/listener.hpp"
#include "observe/replay/turns.hpp"
#include "observe/trace/matches.hpp"
#include "tests/trace/recorded.hpp"

using namespace polychron;
using recording::LogicalTime;
using replay::Turn;

namespace {

constexpr std::uint64_t the_context = 1, lane = 2, other_lane = 3, tensor = 4;

/// A recording of one context, made by hand. Its times are all the same: they order nothing.
struct Made {
  Made() {
    records.contexts[1] = {"", 2};
    for (const auto& [actor, kind] : std::map<std::uint64_t, std::string>{{the_context, "context"},
                                                                          {lane, "device"},
                                                                          {other_lane, "device"},
                                                                          {tensor, "tensor"}})
      roles[{1, actor}] = {0, kind, actor == other_lane ? 1U : 0U};
  }
  void handles(LogicalTime clock, std::uint64_t by, std::uint32_t message) {
    trace::Handled handled;
    handled.context = 1, handled.clock = clock, handled.by = by, handled.kind = message;
    records.handled.push_back(handled);
    joined.sent_of_handled.emplace_back();
  }
  void carries_out(LogicalTime begin, LogicalTime end, std::uint64_t by, msg::Ticket ticket) {
    recording::Carried carried;
    carried.context = 1, carried.clock = begin, carried.end_clock = end;
    carried.lane = by, carried.ticket = ticket;
    records.carried.push_back(carried);
  }
  void takes(LogicalTime clock, LogicalTime lost = 0) {
    auto& call = made.emplace_back();
    call.clock = clock, call.lost_clock = lost, call.ends = lost != 0;
  }
  /// "operation 7", "carry_out 0", "call 0", ...: in their order.
  std::vector<std::string> order() const {
    std::vector<std::string> names;
    for (const auto& turn : replay::order_of(joined, roles, made)) {
      constexpr const char* kinds[] = {"call",      "",      "operation", "end",
                                       "rejection", "going", "leaving"};
      const bool of_call = turn.kind == Turn::Kind::call || turn.kind == Turn::Kind::going;
      const auto number = of_call ? turn.call : turn.ticket;
      names.push_back((turn.kind == Turn::Kind::message
                           ? recording::names().messages.at(turn.message)
                           : kinds[static_cast<int>(turn.kind)]) +
                      " " + std::to_string(number));
    }
    return names;
  }

  trace::JoinedTrace joined;
  trace::Records& records = joined.records;
  std::map<replay::ContextAndActor, replay::Role> roles;
  std::vector<replay::Call> made;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(order)

BOOST_AUTO_TEST_CASE(turns_are_in_the_order_of_their_logical_times) {
  Made recording;
  recording.takes(2);
  recording.takes(9, 6);  // lost at 6, by the call that its actor takes at 9
  recording.handles(3, lane, polychron::recording::message_number<msg::carry_out>);
  recording.carries_out(4, 8, lane, 7);
  recording.handles(5, other_lane, polychron::recording::message_number<msg::end_lease>);
  recording.handles(7, tensor, polychron::recording::message_number<msg::destroy_tensor>);
  recording.records.rejected.push_back({1, 0, 10, tensor, 8});
  recording.records.ended.push_back({1, tensor, 0, 11});
  const std::vector<std::string> expected{
      "call 0",           "carry_out 0", "operation 7", "end_lease 0", "call 1",
      "destroy_tensor 0", "end 7",       "going 1",     "rejection 8", "leaving 0"};
  BOOST_TEST(recording.order() == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(at_the_same_logical_time_the_order_is_that_of_the_actors) {
  Made recording;
  recording.carries_out(5, 6, other_lane, 8);
  recording.carries_out(5, 6, lane, 7);
  const std::vector<std::string> expected{"operation 7", "operation 8", "end 7", "end 8"};
  BOOST_TEST(recording.order() == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(what_lanes_tell_is_known_by_who_is_so_far) {
  const msg::reached one{{{1, 5}, {}}}, other{{{2, 5}, {}}};
  BOOST_TEST(replay::ticket_of(&one) == replay::number_of_question(5, 1));
  BOOST_TEST(replay::ticket_of(&one) != replay::ticket_of(&other));
}

BOOST_AUTO_TEST_CASE(a_flag_orders_who_looked_and_who_set_it) {
  constexpr int looks = 2000;
  for (int round = 0; round < 20; ++round) {
    msg::RacedFlag flag;
    LogicalTime set = 0;
    std::vector<std::pair<bool, LogicalTime>> looked;
    std::thread other([&] {
      for (int i = 0; i < looks; ++i) {
        const bool found = flag.look();
        looked.emplace_back(found, msg::logical_clock());
      }
    });
    std::this_thread::yield();
    BOOST_TEST(flag.set());
    set = msg::logical_clock();
    BOOST_TEST(!flag.set());
    other.join();
    for (const auto& [found, time] : looked) BOOST_REQUIRE((found == (time > set)));
  }
}

BOOST_AUTO_TEST_CASE(what_is_handled_has_a_later_logical_time_than_what_was_sent) {
  testing::Recorded recorded({}, {.lanes = 2});
  const auto a = recorded.tensor("a"), b = recorded.tensor("b");
  const auto graph = recorded.graph("g");
  for (int i = 0; i < 20; ++i) {
    recorded.context.dispatch(graph, {{"in", a}}, {{"out", b}});
    recorded.context.read_tensor(b).get();
  }
  recorded.context.destroy();
  recorded.runtime.shutdown();
  const auto file = recorded.runtime.trace();
  const auto records = trace::read_records(file);
  const auto matches = trace::sent_of_handled(records);
  std::map<std::uint64_t, LogicalTime> last;  // of each actor
  for (std::size_t i = 0; i < matches.size(); ++i) {
    const auto& handled = records.handled[i];
    BOOST_REQUIRE(matches[i]);
    BOOST_TEST(records.sent[*matches[i]].record.clock < handled.clock);
    BOOST_TEST(std::exchange(last[handled.by], handled.clock) < handled.clock);
  }
  // Operations that share a tensor, in the order of their tickets.
  auto carried = records.carried;
  std::ranges::sort(carried, {}, &recording::Carried::ticket);
  std::map<std::uint64_t, LogicalTime> ends;
  for (const auto& r : carried) {
    BOOST_TEST(r.clock < r.end_clock);
    for (const auto& [thread, sent] : records.sent) {
      if (records.messages.at(sent.about.message) != "carry_out" || sent.about.ticket != r.ticket)
        continue;
      for (const auto id : sent.footprint.writes) {
        BOOST_TEST(ends[id] < r.clock);
        ends[id] = r.end_clock;
      }
      for (const auto id : sent.footprint.reads) BOOST_TEST(ends[id] < r.clock);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
