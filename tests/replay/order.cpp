// Who was first, where times alone do not tell.
#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "replay/before.hpp"
#include "replay/listener.hpp"
#include "replay/turns.hpp"
#include "trace/matches.hpp"

using namespace polychron;
using replay::Turn;

namespace {

constexpr std::uint64_t the_context = 1, lane = 2, other_lane = 3, tensor = 4;

/// A recording of one context, made by hand.
struct Made {
  Made() {
    records.contexts[1] = {"", 2};
    records.operations = {"read", "write"};
    records.calls = {"destroy of the context", "write"};
    for (const auto& [actor, kind] : std::map<std::uint64_t, std::string>{{the_context, "context"},
                                                                          {lane, "device"},
                                                                          {other_lane, "device"},
                                                                          {tensor, "tensor"}})
      roles[{1, actor}] = {0, kind, actor == other_lane ? 1U : 0U};
  }
  std::uint32_t message(const std::string& name) {
    const auto known = std::ranges::find(records.messages, name);
    if (known != records.messages.end())
      return static_cast<std::uint32_t>(known - records.messages.begin());
    records.messages.push_back(name);
    return static_cast<std::uint32_t>(records.messages.size() - 1);
  }
  recording::Sent& sends(std::int64_t at, std::uint64_t from, std::uint64_t to,
                         const std::string& name, msg::Ticket ticket = 0, std::uint32_t what = 0) {
    recording::Sent sent;
    sent.context = 1, sent.at = at, sent.from = from, sent.to = to;
    sent.message = ++addresses[{to, name, ticket}] * 1000 + message(name) * 100 + ticket;
    sent.about.message = message(name), sent.about.ticket = ticket, sent.about.what = what;
    records.sent.push_back({0, sent});
    return records.sent.back().record;
  }
  /// That operation 7, a write, failed because its device had gone.
  void tells_of_the_loss(std::int64_t at, std::uint64_t from, std::uint64_t to,
                         const std::string& name) {
    sends(at, from, to, name, 7).about.error = "7\tcontext_lost\twrite\t\t\tran\tgone";
  }
  void handles(std::int64_t at, std::uint64_t duration, std::uint64_t by, const std::string& name,
               msg::Ticket ticket = 0) {
    recording::Handled handled;
    handled.context = 1, handled.begin = at, handled.duration = duration, handled.by = by;
    handled.message = addresses[{by, name, ticket}] * 1000 + message(name) * 100 + ticket;
    handled.kind = message(name);
    records.handled.push_back(handled);
  }
  void carries_out(std::int64_t at, std::uint64_t duration, std::uint64_t by, msg::Ticket ticket) {
    records.carried.push_back({1, at, duration, by, ticket, 1});
  }
  /// A lane is handed an operation, and begins with it at once.
  void carries(std::int64_t at, std::uint64_t handling, std::uint64_t operation,
               msg::Ticket ticket) {
    handles(at, handling, lane, "carry_out", ticket);
    carries_out(at + 1, operation, lane, ticket);
  }
  void is_destroyed(std::int64_t called, std::int64_t taken) {
    sends(called, 0, the_context, "submit", 0, 1);
    takes(taken, true);
  }
  /// Whose operation it was, or 0 for a caller.
  void is_lost(std::int64_t at, std::uint64_t by = 0, msg::Ticket ticket = 0) {
    records.lost.push_back({1, at, by, ticket, true});
  }
  void finds_lost(std::int64_t at, std::uint64_t by) {
    records.lost.push_back({1, at, by, 0, false});
  }
  void takes(std::int64_t at, bool ends = false) {
    calls[{1, at}] = made.size();
    made.emplace_back().ends = ends;
  }
  /// "operation 7", "read", "call 0", ...: in their order.
  std::vector<std::string> order() {
    std::ranges::stable_sort(records.sent, {}, [](const auto& s) { return s.record.at; });
    std::ranges::stable_sort(records.handled, {}, &recording::Handled::begin);
    std::vector<std::string> names;
    for (const auto& turn :
         replay::order_of(records, trace::sent_of_handled(records), roles, calls, made)) {
      constexpr const char* kinds[] = {"call", "", "operation", "end", "rejection", "going"};
      const bool of_call = turn.kind == Turn::Kind::call || turn.kind == Turn::Kind::going;
      const auto number = of_call ? turn.call : turn.ticket;
      names.push_back(
          (turn.kind == Turn::Kind::message ? turn.message : kinds[static_cast<int>(turn.kind)]) +
          " " + std::to_string(number));
    }
    return names;
  }
  bool comes_before(const std::string& one, const std::string& other) {
    const auto all = order();
    const auto first = std::ranges::find(all, one), second = std::ranges::find(all, other);
    BOOST_TEST((first != all.end() && second != all.end()),
               one << " or " << other << " is missing");
    return first < second;
  }

  trace::Records records;
  std::map<replay::ContextAndActor, replay::Role> roles;
  std::map<replay::ContextAndTime, std::size_t> calls;
  std::vector<replay::Call> made;
  std::map<std::tuple<std::uint64_t, std::string, msg::Ticket>, std::uint64_t> addresses;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(order)

BOOST_AUTO_TEST_CASE(what_must_come_before_does_and_a_circle_ends) {
  replay::Before before;
  const auto a = before.add({1, 0}), b = before.add({2, 0}), c = before.add({3, 0});
  BOOST_TEST((before.sorted() == std::vector{a, b, c}));
  before.put(c, a);
  BOOST_TEST((before.sorted() == std::vector{b, c, a}));
  before.put(a, c);
  BOOST_TEST((before.sorted() == std::vector{b, a, c}));
}

BOOST_AUTO_TEST_CASE(what_was_told_by_who_came_later_is_heard_later_still) {
  // The lane came to a read, was kept waiting, and found that the tensor's actor had answered.
  Made recording;
  recording.sends(1, the_context, lane, "carry_out", 7, 1);
  recording.carries(2, 90, 40, 7);
  recording.sends(41, lane, tensor, "tensor_answered", 7);
  recording.handles(70, 1, tensor, "tensor_answered", 7);
  recording.records.rejected.push_back({1, 60, tensor, 7});
  BOOST_TEST(recording.comes_before("rejection 7", "operation 7"));
  BOOST_TEST(recording.comes_before("operation 7", "tensor_answered 7"));
}

BOOST_AUTO_TEST_CASE(a_lane_that_asked_did_so_before_the_other_showed_how_far_it_is) {
  Made recording;
  recording.carries(1, 50, 8, 5);  // and is kept waiting before it shows that
  recording.handles(20, 20, other_lane, "carry_out", 6);
  recording.sends(30, other_lane, lane, "await_turn").footprint.turn = 3;
  recording.handles(60, 1, lane, "await_turn");
  BOOST_TEST(recording.comes_before("carry_out 0", "end 5"));
  const auto all = recording.order();
  BOOST_TEST((std::ranges::find(all, "await_turn " + std::to_string(replay::number_of_question(
                                                         3, 1))) != all.end()));
  const auto asked = std::ranges::find(all, "end 5") - std::ranges::find(all, "operation 5");
  BOOST_TEST(asked == 2);  // the other lane's message is between them
}

BOOST_AUTO_TEST_CASE(a_lane_that_did_not_ask_had_seen_how_far_the_other_is) {
  Made recording;
  recording.sends(1, the_context, other_lane, "carry_out", 7, 2).footprint.turn = 4;
  recording.records.sent.back().record.footprint.lane = 1;
  recording.handles(5, 10, other_lane, "carry_out", 7);
  recording.carries_out(6, 8, other_lane, 7);
  recording.sends(2, the_context, lane, "carry_out", 8, 2).footprint.waits = {1, 4};
  recording.handles(10, 20, lane, "carry_out", 8);  // and looks when the other is done
  recording.carries_out(25, 3, lane, 8);
  BOOST_TEST(recording.comes_before("end 7", "carry_out 8"));
}

BOOST_AUTO_TEST_CASE(what_lanes_tell_is_known_by_who_is_so_far) {
  const msg::reached one{{{1, 5}, {}}}, other{{{2, 5}, {}}};
  BOOST_TEST(replay::ticket_of(&one) == replay::number_of_question(5, 1));
  BOOST_TEST(replay::ticket_of(&one) != replay::ticket_of(&other));
}

BOOST_AUTO_TEST_CASE(what_was_taken_while_a_device_failed_was_taken_before_it_was_lost) {
  Made recording;
  recording.sends(1, the_context, lane, "carry_out", 7, 2);
  recording.carries(2, 50, 40, 7);
  recording.tells_of_the_loss(10, lane, the_context, "operation_failed");
  recording.handles(12, 1, the_context, "operation_failed", 7);
  recording.is_lost(34, lane, 7);
  recording.takes(20);
  recording.sends(21, the_context, other_lane, "carry_out", 8, 2);
  recording.sends(35, lane, the_context, "actor_failed");
  recording.handles(36, 1, the_context, "actor_failed");
  BOOST_TEST(recording.comes_before("call 0", "operation 7"));
  BOOST_TEST(recording.comes_before("operation 7", "actor_failed 0"));
}

BOOST_AUTO_TEST_CASE(a_device_that_failed_when_the_context_had_gone_does_so_again) {
  Made recording;
  recording.carries(2, 50, 40, 7);
  recording.is_lost(19);
  recording.is_destroyed(20, 22);
  recording.tells_of_the_loss(30, lane, tensor, "tensor_became");
  BOOST_TEST(recording.comes_before("carry_out 0", "call 0"));
  BOOST_TEST(recording.comes_before("call 0", "operation 7"));
}

BOOST_AUTO_TEST_CASE(what_found_that_the_context_is_lost_comes_after_the_loss) {
  Made recording;
  recording.carries(2, 9, 5, 7);
  recording.handles(20, 9, lane, "end_lease");
  recording.finds_lost(28, lane);
  recording.is_lost(29);  // noted after the lane had seen it
  recording.is_destroyed(30, 40);
  BOOST_TEST(recording.comes_before("call 0", "end_lease 0"));
  BOOST_TEST(recording.comes_before("carry_out 0", "call 0"));
}

BOOST_AUTO_TEST_CASE(what_looked_and_went_on_did_so_before_the_loss) {
  // The lane looked, and was kept waiting before it began.
  Made recording;
  recording.is_lost(10);
  recording.is_destroyed(12, 14);
  recording.handles(20, 9, lane, "carry_out", 7);
  recording.carries_out(25, 3, lane, 7);
  BOOST_TEST(recording.comes_before("carry_out 0", "call 0"));
  BOOST_TEST(recording.comes_before("call 0", "going 0"));
}

BOOST_AUTO_TEST_CASE(what_failed_after_the_call_that_destroys_is_not_what_ended_the_context) {
  // And the context's actor has not come to that call.
  Made recording;
  recording.carries(2, 50, 40, 7);
  recording.is_lost(10);
  recording.tells_of_the_loss(20, lane, the_context, "operation_failed");
  recording.is_destroyed(11, 60);
  BOOST_TEST(recording.comes_before("call 0", "operation 7"));
  BOOST_TEST(recording.comes_before("operation 7", "end 7"));
}

BOOST_AUTO_TEST_CASE(a_read_that_went_with_its_context_is_claimed_after_that) {
  Made recording;
  recording.sends(1, the_context, lane, "carry_out", 7, 1);
  recording.carries(2, 50, 40, 7);
  recording.is_lost(10);
  recording.is_destroyed(11, 20);
  BOOST_TEST(recording.comes_before("carry_out 7", "call 0"));
  BOOST_TEST(recording.comes_before("going 0", "operation 7"));
}

BOOST_AUTO_TEST_CASE(what_a_tensor_s_actor_did_it_did_before_its_context_went) {
  Made recording;
  recording.is_lost(10);
  recording.is_destroyed(11, 20);
  recording.sends(5, the_context, tensor, "destroy_tensor");
  recording.handles(21, 3, tensor, "destroy_tensor");
  recording.records.rejected.push_back({1, 22, tensor, 7});
  BOOST_TEST(recording.comes_before("rejection 7", "going 0"));
}

BOOST_AUTO_TEST_CASE(operations_on_one_tensor_are_in_the_order_of_their_tickets) {
  Made recording;
  recording.sends(1, the_context, lane, "carry_out", 7, 2).footprint.writes = {3};
  recording.sends(1, the_context, other_lane, "carry_out", 8, 1).footprint.reads = {3};
  recording.carries(10, 50, 40, 7);
  recording.handles(5, 20, other_lane, "carry_out", 8);
  recording.carries_out(6, 10, other_lane, 8);
  BOOST_TEST(recording.comes_before("end 7", "operation 8"));
}

BOOST_AUTO_TEST_CASE(what_found_a_graph_invalid_came_before_what_was_refused_for_it) {
  // The other lane was kept waiting between its beginning and its look at the graph.
  Made recording;
  recording.records.operations.emplace_back("dispatch");
  recording.records.outcomes = {"invalid"};
  for (const msg::Ticket ticket : {7U, 8U})
    recording.sends(1, the_context, ticket == 7 ? lane : other_lane, "carry_out", ticket, 3)
        .footprint.graph = 3;
  recording.handles(5, 60, other_lane, "carry_out", 8);
  recording.carries_out(6, 50, other_lane, 8);
  recording.carries(10, 30, 20, 7);
  recording.sends(20, lane, tensor, "graph_became", 7, 1);
  recording.sends(40, other_lane, the_context, "operation_failed", 8).about.error =
      "8\tgraph_invalid\tdispatch\t\t\tnot run\tsince";
  BOOST_TEST(recording.comes_before("operation 7", "operation 8"));
}

BOOST_AUTO_TEST_SUITE_END()
